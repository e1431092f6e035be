"""Every migration after the first only expands: old and new code meet on it during a deploy."""

import re
from pathlib import Path

import pytest

MIGRATIONS = sorted((Path(__file__).parents[2] / "shared/whenthen/store/migrations").glob("*.sql"))

# What old code cannot notice. A column that old code leaves out must do without a value of its own.
EXPANDS = (
    r"create (unlogged )?table (?P<table>\w+) \(.*\)",
    r"create (unique )?index \w+ on (?P<indexed>\w+) .*",
    r"alter table \w+ add column \w+ (?!.*\bnot null\b)(?!.*\b(unique|check|references)\b)[^,]*",
    r"alter table \w+ add column \w+ [^,]*\bnot null default\b[^,]*",
    r"insert into (?P<filled>\w+) .*",
    # For the planner alone.
    r"alter table \w+ alter column \w+ set \(n_distinct = -?[\d.]+\)",
)


def statements(sql: str) -> list[str]:
    """The statements of a migration without comments, on one line each."""
    code = re.sub(r"--[^\n]*", "", sql)
    return [" ".join(part.split()) for part in code.split(";") if part.strip()]


def trouble(sql: str) -> list[str]:
    """What of a migration old code could notice."""
    found = []
    made: set[str] = set()
    for statement in statements(sql):
        match = next((m for form in EXPANDS if (m := re.fullmatch(form, statement))), None)
        groups = match.groupdict() if match else {}
        made.add(groups.get("table") or "")
        is_new = groups.get("filled", "") in made
        # A unique index on a table that old code writes to could refuse what it writes.
        narrows = statement.startswith("create unique index") and groups["indexed"] not in made
        if match is None or ("filled" in groups and not is_new) or narrows:
            found.append(statement)
    return found


@pytest.mark.parametrize("path", MIGRATIONS[1:], ids=lambda path: path.stem)
def test_a_migration_after_the_first_only_expands(path: Path) -> None:
    assert trouble(path.read_text("utf-8")) == []


def test_migrations_are_numbered_without_a_gap() -> None:
    assert [int(path.name[:4]) for path in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


@pytest.mark.parametrize(
    ("sql", "is_fine"),
    [
        ("alter table runs add column x uuid;", True),
        ("alter table runs add column x integer not null default 0;", True),
        ("alter table runs add column x integer not null;", False),
        ("alter table runs add column x integer unique;", False),
        ("alter table runs drop column x;", False),
        ("alter table runs rename column x to y;", False),
        ("alter table runs alter column x type text;", False),
        ("drop table runs;", False),
        ("drop index runs_by_age;", False),
        ("create table new (id uuid primary key); insert into new default values;", True),
        ("create table new (id uuid); create unique index new_id on new (id);", True),
        ("create unique index runs_x on runs (x);", False),
        ("create index runs_x on runs (x);", True),
        ("insert into runs default values;", False),
        ("update runs set x = 1;", False),
        ("-- drop table runs;\ncreate index runs_x on runs (x);", True),
    ],
)
def test_the_check_knows_what_narrows(sql: str, is_fine: bool) -> None:  # noqa: FBT001
    assert (trouble(sql) == []) is is_fine
