"""What the console's files hold, and that they say nothing the engine does not."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import http_api
from whenthen.domain.kinds import (
    TERMINAL_RUN_STATUSES,
    ActionType,
    AutomationStatus,
    Role,
    RunStatus,
)
from whenthen.domain.rules.permissions import LEVEL_OF_ROLE
from whenthen.domain.schemas import conditions

ROOT = Path(__file__).parents[2]
FOLDER = Path(http_api.__file__).with_name("console")
FILES = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.iterdir())}
MODULES = {name: text for name, text in FILES.items() if name.endswith(".js")}
# Without comments: whole lines, or what follows a statement.
CODE = {
    name: re.sub(r"^\s*(?://|/\*\*|\*).*$", "", text, flags=re.MULTILINE)
    for name, text in FILES.items()
}
SIZE_MAX_BYTES = 150_000
LINES_MAX = 300
EVERY_FILE = pytest.mark.parametrize("name", FILES)
EVERY_MODULE = pytest.mark.parametrize("name", MODULES)
# import … from './x.js'; export … from './x.js'; import './x.js';
STATIC = re.compile(r"^(?:import|export)\b[^;]*?'\./([^']+)';", re.MULTILINE)
DYNAMIC = re.compile(r"import\('\./([^']+)'\)")
NAMED = re.compile(r"^import \{([^}]+)\} from '\./([^']+)';", re.MULTILINE)
URL_OF = re.compile(r"new URL\('\./([^']+)', import\.meta\.url\)")


def test_the_whole_console_weighs_no_more_than_150_kb() -> None:
    sizes = {name: len(text.encode()) for name, text in FILES.items()}
    assert sum(sizes.values()) <= SIZE_MAX_BYTES, sizes


@EVERY_FILE
def test_no_file_is_over_300_lines(name: str) -> None:
    lines = FILES[name].splitlines()
    assert len(lines) <= LINES_MAX
    assert [line for line in lines if line != line.rstrip() or "\t" in line.lstrip("\t")] == []


@EVERY_MODULE
def test_every_module_says_what_it_is(name: str) -> None:
    assert re.match(r"// \S.*[.:,;?!\w)]\n", FILES[name])


# Each turns a text into markup or code, or leaves this deployment.
FORBIDDEN = [
    r"innerHTML",
    r"outerHTML",
    r"insertAdjacentHTML",
    r"document\.write",
    r"DOMParser",
    r"createContextualFragment",
    r"srcdoc",
    r"\beval\b",
    r"new Function",
    r"localStorage",
    r"document\.cookie",
    r"\bstyle=",
    r"<style",
    r"@import",
    r"javascript:",
    r"set(?:Timeout|Interval)\(['\"`]",
    r"\son[a-z]+=\"",
    r"console\.(?:log|debug|info)",
    r"debugger",
]


@EVERY_FILE
@pytest.mark.parametrize("pattern", FORBIDDEN)
def test_no_file_holds_what_makes_markup_or_code_of_a_text(name: str, pattern: str) -> None:
    assert re.findall(pattern, FILES[name]) == []


def test_the_page_has_no_script_of_its_own() -> None:
    scripts = re.findall(r"<script\b([^>]*)>(.*?)</script>", FILES["index.html"], re.DOTALL)
    assert [text for _, text in scripts] == [""]
    assert all("src=" in attributes for attributes, _ in scripts)


# Names of XML dialects, which nobody fetches, and examples of what people may enter.
NO_REQUESTS = {"www.w3.org", "example.com", "hooks.example.com", "api.example.com"}


@EVERY_FILE
def test_no_file_names_an_address_of_somebody_else(name: str) -> None:
    found = re.findall(r"(?:https?:)?//[\w.-]+\.[a-z]{2,}[^\s'\"`)]*", FILES[name])
    assert {urlsplit(url).hostname for url in found} - NO_REQUESTS == set()


@EVERY_MODULE
def test_every_import_is_there_and_exports_what_is_taken(name: str) -> None:
    for file in named_by(name):
        assert file in FILES, f"{name} → {file}"
    for names, file in NAMED.findall(CODE[name]):
        taken = {part.split(" as ")[0].strip() for part in names.split(",") if part.strip()}
        assert taken <= exports_of(file), f"{name} → {file}"


def named_by(name: str) -> list[str]:
    """The files that a file names, the views among them."""
    text = CODE[name]
    by_pattern = [*STATIC.findall(text), *DYNAMIC.findall(text), *URL_OF.findall(text)]
    views = re.findall(r"^\t'/[^']*': '(\w+)',$", text, re.MULTILINE) if name == "app.js" else []
    return [*by_pattern, *(f"{view}.js" for view in views)]


def exports_of(name: str) -> set[str]:
    text = CODE[name]
    declared = re.findall(
        r"^export (?:async )?(?:function\*?|class|const|let) (\w+)", text, re.MULTILINE
    )
    listed = re.findall(r"^export \{([^}]+)\}", text, re.MULTILINE)
    parts = (part for names in listed for part in names.split(",") if part.strip())
    return {*declared, *(part.split(" as ")[-1].strip() for part in parts)}


def test_every_file_is_reached_from_the_page() -> None:
    reached: set[str] = set()
    waiting = re.findall(r'VERSION/([^"]+)"', FILES["index.html"])
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += named_by(name)
    assert set(FILES) - reached == {"index.html"}


def test_what_the_first_view_needs_is_asked_for_at_once() -> None:
    needed: set[str] = set()
    waiting = ["app.js"]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += STATIC.findall(CODE[name])
    preloaded = re.findall(
        r'rel="modulepreload" href="/console/VERSION/([^"]+)"', FILES["index.html"]
    )
    assert sorted([*preloaded, "app.js"]) == sorted(needed)


@EVERY_MODULE
def test_every_export_is_used_somewhere(name: str) -> None:
    others = "".join(text for other, text in FILES.items() if other != name)
    # `view` is what app.js takes of each.
    taken = {one for one in exports_of(name) if one == "view" or re.search(rf"\b{one}\b", others)}
    assert exports_of(name) - taken == set()


# ---- what they say of the engine


def words_in(name: str, constant: str) -> set[str]:
    """The quoted words and the keys of a constant that is a list, a set or an object."""
    found = re.search(
        rf"const {constant} = (?:new Set\()?([\[{{].*?[\]}}])\)?;", CODE[name], re.DOTALL
    )
    assert found, f"{name} has no {constant}"
    quoted = re.findall(r"'([^']*)'", found[1])
    keys = re.findall(r"(\w+):", re.sub(r"'[^']*'", "", found[1]))
    return set(keys) or set(quoted)


def test_it_knows_every_operator_and_which_take_a_value() -> None:
    without = conditions._WITHOUT_VALUE
    operators = {*conditions._VALUE_CHECKS, *without}
    assert words_in("automation.js", "OPERATORS") == operators
    lists = re.findall(r"\['([a-z_', ]+)'\]", CODE["condition_builder.js"])
    kinds = [set(one.split("', '")) for one in lists]
    named = [kind for kind in kinds if kind <= operators]
    assert without in named
    assert sum(not kind & without for kind in named) >= 2


def test_it_knows_every_status_of_a_run() -> None:
    assert words_in("runs.js", "STATUSES") == set(RunStatus)
    assert words_in("stats.js", "STATUSES") == set(RunStatus)
    assert words_in("retry.js", "ENDED_BADLY") == TERMINAL_RUN_STATUSES - {RunStatus.SUCCEEDED}
    under_way = set(RunStatus) - TERMINAL_RUN_STATUSES
    assert words_in("retry.js", "UNDER_WAY") == under_way


def test_it_knows_every_status_of_an_automation_and_every_role() -> None:
    assert set(AutomationStatus) <= set(re.findall(r"'([A-Z]+)'", CODE["automation_list.js"]))
    ranks = re.search(r"const RANKS = \[(.*?)\];", CODE["session.js"])
    assert ranks
    by_power = sorted(Role, key=LEVEL_OF_ROLE.__getitem__)
    assert re.findall(r"'(\w+)'", ranks[1]) == by_power


def test_it_offers_the_outputs_of_every_action_as_they_are_documented() -> None:
    table = re.search(r"const OUTPUTS = \{(.*?)\};", CODE["controls.js"], re.DOTALL)
    assert table
    offered = dict(re.findall(r"(\w+): '([^']*)'", table[1]))
    assert offered.keys() == set(ActionType)
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    for type_, keys in offered.items():
        row = re.search(rf"^\| {type_} \|.*\| `([^`|]*)` \|$", page, re.MULTILINE)
        assert row, type_
        assert set(keys.split()) <= set(row[1].split(", ")), type_


# Its own: how it shows a step between two tries; an example.
OWN_WORDS = {"RETRYING", "CRM_KEY"}
ENGINE = "\n".join(
    path.read_text("utf-8")
    for folder in ("shared", "functions")
    for path in sorted((ROOT / folder).rglob("*.py"))
)


@EVERY_MODULE
def test_every_code_status_and_type_that_it_mentions_is_the_engines(name: str) -> None:
    mentioned = set(re.findall(r"'([A-Z]{2,}(?:_[A-Z0-9]+)*)'", CODE[name])) - OWN_WORDS - HTTP
    assert {word for word in mentioned if f'"{word}"' not in ENGINE} == set()


HTTP = {"GET", "POST", "PUT", "PATCH", "DELETE", "SHA-256", "OK", "UTC", "ID", "HTML", "URL"}


def test_it_reads_the_lines_of_the_log_as_the_engine_writes_them() -> None:
    lines = (ROOT / "shared/whenthen/domain/rules/log_lines.py").read_text("utf-8")
    read = set(re.findall(r"'((?:run|retry|watchdog) [a-z ]+)'", CODE["run_lives.js"]))
    assert len(read) >= 5
    assert {line for line in read if f'"{line}' not in lines} == set()


# ---- what its tests are made with


def test_the_browser_tests_install_what_is_locked_from_wherever_one_installs() -> None:
    text = (ROOT / "tests" / "browser" / "package-lock.json").read_text("utf-8")
    assert "://" not in text
    packages = json.loads(text)["packages"]
    wanted = json.loads((ROOT / "tests" / "browser" / "package.json").read_text("utf-8"))
    assert packages[""]["devDependencies"] == wanted["devDependencies"]
    for name, package in packages.items():
        assert not name or package["integrity"].startswith("sha512-"), name
