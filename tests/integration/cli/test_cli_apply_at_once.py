"""`automations apply` twice at once, over the API itself: nobody's work is lost or done twice."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest

import cli.apply
from cli.api import Api as CliApi
from cli.automation_apply import carry_out
from cli.automation_plan import Change
from cli.main import main
from cli.yaml_files import read_files
from devstack.http_server import HttpServer
from devstack.sandbox import Invocation
from http_api.handler import lambda_handler
from tests.integration.http_api.client import LAMBDA_CONTEXT, Api
from tests.integration.http_api.conftest import api

__all__ = ["api"]

PAUSED = """
name: Nightly
status: PAUSED
triggers:
  - {type: WEBHOOK, config: {}}
actions:
  - {type: CREATE_NOTIFICATION, config: {title: "Good morning"}}
"""


@pytest.fixture
def commands(api: Api, monkeypatch: pytest.MonkeyPatch) -> Iterator[CliApi]:
    """The commands speak to the API of the test, as its OWNER."""
    served = HttpServer(
        0,
        lambda event, _wait_s: Invocation(dict(lambda_handler(event, LAMBDA_CONTEXT))),  # type: ignore[arg-type]
    )
    served.start()
    token = str(api.mine.owner.token)
    monkeypatch.setenv("WHENTHEN_URL", served.url)
    monkeypatch.setenv("WHENTHEN_TOKEN", token)
    monkeypatch.setenv("WHENTHEN_WORKSPACE", str(api.mine.workspace_id))
    yield CliApi(served.url, token)
    served.stop()
    served.close()


def file_of(folder: Path, text: str, name: str = "a.yaml") -> str:
    path = folder / name
    path.write_text(text, "utf-8")
    return str(path)


def apply(file: str) -> int:
    return main(["automations", "apply", file, "--yes"])


def planned(commands: CliApi, api: Api, file: str) -> Change:
    documents = read_files([file])
    (change,) = cli.apply._changes(commands, str(api.mine.workspace_id), documents)
    return change


def automations(api: Api) -> list[Any]:
    rows = api.mine.owner.get(api.mine.automations_path).json["data"]
    return [api.mine.owner.get(f"/automations/{row['id']}").json for row in rows]


def at_once(work: Callable[[Change], object], changes: list[Change]) -> list[str]:
    """Return what was told by each that failed."""

    def told(change: Change) -> str:
        try:
            work(change)
        except Exception as error:  # noqa: BLE001  # looked at by the test
            return str(error)
        return ""

    with ThreadPoolExecutor(len(changes)) as pool:
        return [text for text in pool.map(told, changes) if text]


def meeting(commands: CliApi, method: str, parties: int) -> CliApi:
    """The same caller, whose requests of `method` wait for each other once, then go."""
    barrier = Barrier(parties)

    class Meeting(CliApi):
        def call(self, asked: str, *rest: Any) -> Any:
            answer = super().call(asked, *rest)
            if asked == method and not barrier.broken:
                try:
                    barrier.wait(20)
                except BrokenBarrierError:
                    return answer
                barrier.abort()
            return answer

    return Meeting(commands.url, commands.token)


PARTS = {
    "head": "description: d{}",
    "condition": "condition: {{field: {{ref: event, path: a}}, operator: eq, value: {}}}",
    "actions": "actions: [{{type: CREATE_NOTIFICATION, config: {{title: t{}}}}}]",
    "triggers": "triggers: [{{type: SCHEDULE, config: {{cron: '0 {} * * *'}}}}]",
}


@pytest.mark.parametrize("part", PARTS)
def test_of_two_changes_at_once_the_second_is_told_and_changes_nothing(
    api: Api,
    commands: CliApi,
    tmp_path: Path,
    part: str,
) -> None:
    assert apply(file_of(tmp_path, "name: A\n")) == 0
    changes = [
        planned(commands, api, file_of(tmp_path, f"name: A\n{PARTS[part].format(n)}\n"))
        for n in (1, 2)
    ]
    # Both have looked that nobody has changed it, before either writes.
    both = meeting(commands, "GET", 2)
    failed = at_once(lambda one: carry_out(both, str(api.mine.workspace_id), one), changes)
    assert len(failed) == 1
    assert "somebody has changed it" in failed[0]
    (left,) = automations(api)
    assert left["version"] == 2


def test_what_was_changed_meanwhile_is_neither_archived_nor_activated(
    api: Api,
    commands: CliApi,
    tmp_path: Path,
) -> None:
    assert apply(file_of(tmp_path, "name: A\n")) == 0
    (known,) = automations(api)

    class Overtaken(CliApi):
        """Somebody changes the automation right after it was looked at."""

        def call(self, method: str, *rest: Any) -> Any:
            answer = super().call(method, *rest)
            if method == "GET":
                number = answer["version"]
                api.mine.owner.patch(f"/automations/{known['id']}", {"description": f"{number}"})
            return answer

    overtaken = Overtaken(commands.url, commands.token)
    for status in ("ARCHIVED", "ACTIVE"):
        change = planned(commands, api, file_of(tmp_path, f"name: A\nstatus: {status}\n"))
        (told,) = at_once(lambda one: carry_out(overtaken, known["workspaceId"], one), [change])
        assert "somebody has changed it" in told
    assert [one["status"] for one in automations(api)] == ["DRAFT"]


@pytest.mark.parametrize(
    ("status", "steps", "version"),
    [("PAUSED", ["ACTIVE", "PAUSED"], 2), ("ACTIVE", ["ACTIVE"], 1), ("DRAFT", [], 1)],
)
def test_one_file_applied_first_by_several_at_once_makes_one_automation(  # noqa: PLR0917  # a table
    api: Api,
    commands: CliApi,
    tmp_path: Path,
    status: str,
    steps: list[str],
    version: int,
) -> None:
    change = planned(commands, api, file_of(tmp_path, PAUSED.replace("PAUSED", status)))
    webhooks: list[Any] = []

    def work(one: Change) -> None:
        webhooks.append(carry_out(commands, str(api.mine.workspace_id), one))

    assert at_once(work, [change] * 4) == []
    (made,) = automations(api)
    assert (made["status"], len(made["triggers"]), made["version"]) == (status, 1, version)
    assert len([one for one in webhooks if one]) == 1
    taken = api.sql(
        "select data from audit_log where action = 'automation.status_changed' order by id"
    )
    assert [row["data"]["to"] for row in taken] == steps


def test_what_was_archived_or_renamed_since_is_made_anew(
    api: Api,
    commands: CliApi,  # noqa: ARG001  # sets the address
    tmp_path: Path,
) -> None:
    file = file_of(tmp_path, PAUSED)
    assert apply(file) == 0
    (first,) = automations(api)
    api.mine.owner.delete(f"/automations/{first['id']}")
    assert apply(file) == 0
    (second,) = automations(api)
    api.mine.owner.patch(f"/automations/{second['id']}", {"name": "Other"})
    assert apply(file) == 0
    by_name = {one["name"]: one for one in automations(api)}
    assert by_name.keys() == {"Other", "Nightly"}
    assert by_name["Nightly"]["status"] == "PAUSED"
    assert len({first["id"], second["id"], by_name["Nightly"]["id"]}) == 3


def test_a_refusal_is_judged_anew_once_its_cause_is_mended(
    api: Api,
    commands: CliApi,  # noqa: ARG001  # sets the address
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = file_of(tmp_path, f"name: A\ndatabaseId: {api.mine.database_id}\n")
    api.sql("update databases set archived_at = whenthen_now()")
    assert apply(file) == 1
    assert "database" in capsys.readouterr().err
    api.sql("update databases set archived_at = null")
    assert apply(file) == 0
    assert [one["name"] for one in automations(api)] == ["A"]
