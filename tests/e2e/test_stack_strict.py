"""With three attempts: a death is told to the right people, and a power cut loses nothing."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import pytest

from tests.e2e.conftest import PATIENCE_S, Api, Stack, eventually, folder_for_a_stack, start_stack
from tests.e2e.stories import (
    activate,
    add_record,
    ended_run,
    notify,
    slow,
    target_of_its_own,
    update,
    webhook,
    webhook_ids,
)
from tests.integration.webhook_target import Target, respond

pytestmark = [pytest.mark.xdist_group("stack2"), pytest.mark.timeout(1200)]

RUNS = 200
RECOVERY_S = 240
SETTINGS = {"AUTO_RUN_MAX_RETRIES": "3"}


class Strict:
    """A stack that can be cut off and started again on the same data."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self.stack = start_stack(data, **SETTINGS)

    def cut_off(self) -> None:
        self.stack.kill()

    def start_again(self) -> None:
        self.stack = start_stack(self._data, **SETTINGS)

    def owner(self) -> Api:
        return self.stack.api(self.stack.ready["token"])


@pytest.fixture(scope="module")
def strict() -> Iterator[Strict]:
    with folder_for_a_stack() as folder:
        strict = Strict(folder / "data")
        yield strict
        assert strict.stack.stop() == 0


@pytest.fixture
def target() -> Iterator[Target]:
    with target_of_its_own() as target:
        yield target


def database_of(strict: Strict, owner: Api) -> str:
    """A fresh database, so that no test's automation meets another's records."""
    made = owner.ok(
        "POST",
        f"/workspaces/{strict.stack.ready['workspaceId']}/databases",
        {
            "name": "Tickets",
            "properties": [
                {"name": "Name", "type": "text"},
                {"name": "Status", "type": "select", "options": ["A", "B", "C"]},
            ],
        },
    )
    return str(made["id"])


def test_the_last_failure_is_a_death_that_every_admin_hears_of_once(
    strict: Strict, target: Target
) -> None:
    stack, owner = strict.stack, strict.owner()
    workspace = stack.ready["workspaceId"]
    stack.sql(
        "update members set role = 'ADMIN' where workspace_id = cast(:w as uuid)"
        " and role = 'VIEWER'",
        w=workspace,
    )
    admins = stack.sql(
        "select user_id from members where workspace_id = cast(:w as uuid)", w=workspace
    )
    tickets = database_of(strict, owner)
    url = target.on("/t", respond(500, "not for anybody's eyes"))
    automation = activate(owner, stack, tickets, webhook(url))
    counted_before = deaths_counted(stack)
    add_record(owner, tickets)
    run = ended_run(owner, automation)
    assert (run["status"], len(target.hits)) == ("DEAD_LETTER", 3)
    assert run["error"] == {
        "code": "WEBHOOK_HTTP_RETRIABLE",
        "message": "answered 500",
        "actionIndex": 0,
        "actionType": "SEND_WEBHOOK",
        "attempts": 3,
    }

    def told() -> list[dict[str, object]]:
        return stack.sql(
            "select user_id, title, body from notifications where run_id = cast(:id as uuid)",
            id=run["id"],
        )

    eventually(told, "the death is told", PATIENCE_S)
    eventually(lambda: deaths_counted(stack) == counted_before + 1, "the metric", PATIENCE_S)
    # Whatever the watchdog does with it, it is not told again.
    stack.invoke("RunWatchdogFunction", {})
    assert Counter(str(row["user_id"]) for row in told()) == {
        str(row["user_id"]): 1 for row in admins
    }
    assert len(admins) == 2
    assert {(row["title"], row["body"]) for row in told()} == {
        (
            'Automation "Story" dead-lettered',
            "Failed after 3 attempts: WEBHOOK_HTTP_RETRIABLE — answered 500",
        )
    }
    entries = owner.ok("GET", f"/workspaces/{workspace}/audit")["data"]
    (entry,) = (entry for entry in entries if entry["action"] == "automation.dead_lettered")
    assert run["id"] in str(entry)


def deaths_counted(stack: Stack) -> int:
    """How many deaths the metrics say were announced."""
    return sum(
        int(value)
        for line in stack.lines("metrics.jsonl")
        for value in line.get("automations.dead_letter", [])
    )


def test_a_power_cut_during_two_hundred_runs_loses_none_and_repeats_nothing_finished(
    strict: Strict, target: Target
) -> None:
    owner = strict.owner()
    tickets = database_of(strict, owner)
    url = target.on("/t", slow(0.3, respond(200)))
    automation = activate(
        owner, strict.stack, tickets, update(Status="C"), webhook(url), notify("Done")
    )
    with ThreadPoolExecutor(4) as pool:
        records = list(pool.map(lambda _: add_record(owner, tickets, Status="A"), range(RUNS)))

    def statuses() -> Counter[str]:
        rows = strict.stack.sql(
            "select status from automation_runs where automation_id = cast(:a as uuid)",
            a=automation["id"],
        )
        return Counter(row["status"] for row in rows)

    strict.cut_off()
    # The database outlives the stack; nobody works on the runs until the next one begins.
    first = statuses()
    assert first["SUCCEEDED"] < RUNS, "the cut came too late"
    strict.start_again()
    began = monotonic()
    stack = strict.stack
    eventually(lambda: statuses() == {"SUCCEEDED": RUNS}, "all succeeded", RECOVERY_S)
    took_s = monotonic() - began
    print(f"cut at {dict(first)}, whole after {took_s:.1f} s")  # noqa: T201  # shown by -rP
    versions = stack.sql(
        "select version, count(*) as n from records where database_id = cast(:d as uuid)"
        " group by version",
        d=tickets,
    )
    assert [(row["version"], row["n"]) for row in versions] == [(2, len(records))]
    told = stack.sql(
        "select count(*) as n from notifications n join automation_runs r on r.id = n.run_id"
        " where r.automation_id = cast(:a as uuid) group by n.run_id",
        a=automation["id"],
    )
    members = stack.sql(
        "select count(*) as n from members where workspace_id = cast(:w as uuid)"
        " and role in ('OWNER', 'ADMIN')",
        w=stack.ready["workspaceId"],
    )[0]["n"]
    assert Counter(row["n"] for row in told) == {members: RUNS}
    calls = Counter(webhook_ids(target.hits, "/t"))
    assert len(calls) == RUNS
    # One cut, so at most one repetition of what was under way, under the same id.
    assert max(calls.values()) <= 2
