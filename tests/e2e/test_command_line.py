"""The command line against the running engine, as a person or a pipeline uses it."""

import json
import os
import pty
import subprocess
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from cli.main import main
from tests.e2e.conftest import COMMAND, REPOSITORY, Api, Stack, eventually

pytestmark = [pytest.mark.xdist_group("stack"), pytest.mark.timeout(600)]

AUTOMATIONS = """
name: Triage new tickets
description: |
  When a ticket arrives,
  somebody is told.
status: ACTIVE
database: Tickets
triggers:
  - type: RECORD_CREATED
    config: {database: Tickets}
condition: {field: {ref: property, name: Status}, operator: eq, value: B}
actions:
  - type: UPDATE_RECORD
    config: {recordId: from_trigger, propertyValues: {Status: C, Name: "no"}}
  - type: CREATE_NOTIFICATION
    config: {title: "Ticket {{record.Name}}"}
---
- name: Nightly
  status: PAUSED
  triggers:
    - type: SCHEDULE
      config: {cron: "0 9 * * mon-fri", timeZone: Europe/Berlin}
    - type: SCHEDULE
      config: {runEvery: 3600}
  actions:
    - type: CREATE_RECORD
      config: {database: Tickets, propertyValues: {Name: 2026-01-01, Priority: 1.50}}
      retries: 3
      timeoutMs: 10000
- name: Hook
  triggers: [{type: WEBHOOK, config: {requireSignature: true}}]
  actions:
    - type: SEND_WEBHOOK
      config:
        url: https://example.com/
        headers: {authorization: "Bearer {{secrets.CRM_KEY}}"}
        body: {n: 12345678901234567890.1230, country: NO, list: [1, null, true, "1"]}
- name: Every other part
  database: Tickets
  triggers:
    - {type: PROPERTY_CHANGED, config: {properties: [Status, "*"]}}
    - {type: FORM_SUBMITTED, config: {}}
    - {type: PAGE_CREATED, config: {}}
  condition:
    or:
      - not: {field: {ref: event, path: a.b}, operator: is_empty}
      - {field: {ref: property, name: Priority}, operator: in, value: [1, 1.50, "1", true, null]}
  actions:
    - {type: DELETE_RECORD, config: {recordId: "{{trigger.recordId}}"}}
    - type: UPDATE_RECORD
      config: {recordId: from_trigger, propertyValues: {Name: null, Tags: []}}
    - {type: CREATE_PAGE, config: {title: "a: b # c", content: " x\n\ty\n"}}
    - {type: SEND_EMAIL, config: {to: [a@example.com], subject: s, html: "<b>é✓</b>"}}
    - {type: AI_GENERATE, config: {prompt: p, maxTokens: 5, temperature: 0.70}}
    - {type: DELAY, config: {until: "2030-01-01T00:00:00Z"}}
    - {type: CREATE_NOTIFICATION, config: {title: t, audience: members}}
- name: Empty
"""
NAMES = ("Triage new tickets", "Nightly", "Hook", "Every other part", "Empty")


class Commands:
    """Runs commands in this process, in one workspace."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self._capsys = capsys
        self.folder = folder
        self.err = ""

    def run(self, *words: str, exit_code: int = 0) -> str:
        self._capsys.readouterr()
        code = main(list(words))
        shown = self._capsys.readouterr()
        self.err = shown.err
        assert code == exit_code, shown.out + shown.err
        return shown.out

    def json(self, *words: str, exit_code: int = 0) -> Any:
        return json.loads(self.run(*words, "--json", exit_code=exit_code))

    def apply(self, text: str, *words: str, exit_code: int = 0) -> str:
        return self.run("automations", "apply", self.file(text), *words, exit_code=exit_code)

    def changes(self, text: str) -> dict[str, str]:
        """What `apply` would change, by name."""
        told = self.json("automations", "apply", self.file(text), "--dry-run")
        return {one["name"]: one["change"] for one in told}

    def file(self, text: str, name: str = "a.yaml") -> str:
        path = self.folder / name
        path.write_text(text, "utf-8")
        return str(path)


@pytest.fixture
def workspace(stack: Stack, owner: Api, monkeypatch: pytest.MonkeyPatch) -> str:
    """A workspace of its own with a database Tickets; the commands are about it."""
    monkeypatch.setenv("WHENTHEN_URL", stack.ready["url"])
    monkeypatch.setenv("WHENTHEN_TOKEN", stack.ready["token"])
    return fresh_workspace(stack, owner, monkeypatch)


def fresh_workspace(stack: Stack, owner: Api, monkeypatch: pytest.MonkeyPatch) -> str:
    made = owner.ok("POST", "/workspaces", {"name": f"W {uuid4().hex}"})
    properties = owner.ok("GET", f"/databases/{stack.ready['databaseId']}")["properties"]
    body = {"name": "Tickets", "properties": properties}
    owner.ok("POST", f"/workspaces/{made['id']}/databases", body)
    monkeypatch.setenv("WHENTHEN_WORKSPACE", made["id"])
    return str(made["id"])


@pytest.fixture
def commands(
    workspace: str,  # noqa: ARG001  # sets the environment
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Commands:
    return Commands(capsys, tmp_path)


def details(owner: Api, workspace: str) -> dict[str, Any]:
    """Every automation of the workspace by name, without when it was made and last run."""
    rows = owner.ok("GET", f"/workspaces/{workspace}/automations?limit=200")["data"]
    return {row["name"]: owner.ok("GET", f"/automations/{row['id']}") for row in rows}


def database_of(owner: Api, workspace: str) -> str:
    return str(owner.ok("GET", f"/workspaces/{workspace}/databases")["data"][0]["id"])


def test_apply_makes_what_the_file_says_and_a_second_time_changes_nothing(
    commands: Commands, owner: Api, workspace: str
) -> None:
    told = commands.apply(AUTOMATIONS, "--yes")
    assert "5 to create, 0 to change, 0 to archive, 0 as they should be" in told
    made = details(owner, workspace)
    assert {name: one["status"] for name, one in made.items()} == {
        "Triage new tickets": "ACTIVE",
        "Nightly": "PAUSED",
        "Hook": "DRAFT",
        "Every other part": "DRAFT",
        "Empty": "DRAFT",
    }
    again = commands.apply(AUTOMATIONS)
    assert again == "0 to create, 0 to change, 0 to archive, 5 as they should be\n"
    assert details(owner, workspace) == made


def test_an_export_applied_elsewhere_exports_the_same_bytes(
    commands: Commands,
    stack: Stack,
    owner: Api,
    workspace: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commands.apply(AUTOMATIONS, "--yes")
    exported = commands.run("automations", "export")
    ids = [row["id"] for row in details(owner, workspace).values()]
    assert not any(id_ in exported for id_ in [*ids, database_of(owner, workspace)])
    assert "whsec_" not in exported
    assert "12345678901234567890.1230" in exported
    assert commands.changes(exported) == dict.fromkeys(NAMES, "keep")
    fresh_workspace(stack, owner, monkeypatch)
    commands.apply(exported, "--yes")
    assert commands.run("automations", "export") == exported


def test_a_dry_run_shows_the_diff_and_does_nothing(
    commands: Commands, owner: Api, workspace: str
) -> None:
    commands.apply(AUTOMATIONS, "--yes")
    before = details(owner, workspace)
    told = commands.apply(AUTOMATIONS.replace("value: B", "value: A"), "--dry-run")
    assert "~ Triage new tickets" in told
    changed = [line[4:] for line in told.splitlines() if line.startswith(("    +", "    -"))]
    assert changed == ["-  value: B", "+  value: A"]
    assert details(owner, workspace) == before


def test_a_change_keeps_the_ids_of_actions_and_triggers(
    commands: Commands, stack: Stack, owner: Api, workspace: str
) -> None:
    commands.apply(AUTOMATIONS, "--yes")
    before = details(owner, workspace)

    def trigger_ids() -> list[str]:
        found = stack.sql(
            "select t.id from automation_triggers t join automations a on a.id = t.automation_id"
            " where a.workspace_id = cast(:w as uuid) order by t.id",
            w=workspace,
        )
        return [str(row["id"]) for row in found]

    known = trigger_ids()
    text = AUTOMATIONS.replace("Status: C", "Status: A").replace('"0 9', '"30 9')
    inserted = "actions:\n  - {type: DELAY, config: {seconds: 1}}\n  - type: UPDATE_RECORD"
    commands.apply(text.replace("actions:\n  - type: UPDATE_RECORD", inserted), "--yes")
    after = details(owner, workspace)
    ids = [one["id"] for one in after["Triage new tickets"]["actions"]]
    assert ids[1:] == [one["id"] for one in before["Triage new tickets"]["actions"]]
    assert trigger_ids() == known
    assert after["Triage new tickets"]["version"] == before["Triage new tickets"]["version"] + 1
    assert after["Hook"] == before["Hook"]


def test_an_automation_is_renamed_archived_and_its_name_is_free_again(
    commands: Commands, owner: Api, workspace: str
) -> None:
    commands.apply("name: Old\nstatus: ACTIVE\n", "--yes")
    old = details(owner, workspace)["Old"]
    renamed = "name: New\nrenamedFrom: Old\nstatus: ACTIVE\n"
    commands.apply(renamed, "--yes")
    assert details(owner, workspace)["New"]["id"] == old["id"]
    assert commands.changes(renamed) == {"New": "keep"}
    gone = "name: New\nstatus: ARCHIVED\n"
    assert "archived New" in commands.apply(gone, "--yes")
    assert commands.changes(gone) == {"New": "keep"}
    assert details(owner, workspace) == {}
    commands.apply("name: New\n", "--yes")
    assert details(owner, workspace)["New"]["id"] != old["id"]
    assert commands.run("automations", "list", "--status", "ARCHIVED").count(old["id"]) == 1


def test_what_was_never_active_is_paused_without_hearing_anything(
    commands: Commands, owner: Api, workspace: str
) -> None:
    commands.apply(AUTOMATIONS, "--yes")
    nightly = details(owner, workspace)["Nightly"]
    versions = owner.ok("GET", f"/automations/{nightly['id']}/versions")["data"]
    first = owner.ok("GET", f"/automations/{nightly['id']}/versions/1")
    assert (len(versions), first["triggers"], len(nightly["triggers"])) == (2, [], 2)


def test_problems_of_the_deployment_name_file_document_line_and_path(
    commands: Commands, owner: Api, workspace: str
) -> None:
    text = (
        "name: Good\n---\nname: Bad cron\ntriggers:\n  - type: SCHEDULE\n    config:\n"
        "      cron: 61 * * * *\n---\nname: Bad condition\ncondition:\n  not: {}\n"
        "---\nname: Good too\n"
    )
    told = commands.apply(text, "--yes", exit_code=1)
    assert "created Good\n" in told
    assert "created Good too\n" in told
    file = str(commands.folder / "a.yaml")
    assert f"{file}, document 2, line 7: triggers[0].config.cron: " in commands.err
    assert f"{file}, document 3, line 11: condition.not.operator: " in commands.err
    assert sorted(details(owner, workspace)) == ["Good", "Good too"]
    unknown = "name: Good\n---\nname: b\nactions:\n  - type: DELAY\n    config: {secs: 1}\n"
    commands.apply(unknown, "--yes", exit_code=2)
    assert f"{file}, document 2, line 6: actions[0].config.secs: is not a known" in commands.err


def test_two_of_one_name_are_not_guessed_at(commands: Commands, owner: Api, workspace: str) -> None:
    for _ in range(2):
        owner.ok("POST", f"/workspaces/{workspace}/automations", {"name": "Twin"})
    commands.apply("name: Twin\n", "--yes", exit_code=1)
    assert "2 automations have the name Twin" in commands.err
    commands.run("automations", "show", "Twin", exit_code=2)
    commands.run("automations", "export")
    assert "Twin: two have this name" in commands.err


def test_a_webhooks_secret_is_shown_only_when_asked_for(
    commands: Commands, stack: Stack, owner: Api, workspace: str
) -> None:
    hook = "triggers: [{type: WEBHOOK, config: {}}]\n"
    told = commands.apply(f"name: Quiet\n{hook}", "--yes")
    assert "whsec_" not in told + commands.err
    assert "only with --show-webhooks" in " ".join(commands.err.split())
    shown = commands.apply(f"name: Loud\nstatus: ACTIVE\n{hook}", "--yes", "--show-webhooks")
    assert "whsec_" in shown
    url = next(word for word in shown.split() if "/webhooks/incoming/" in word)
    path = url.removeprefix(stack.ready["url"])
    assert owner.call("POST", f"../..{path}", {"a": 1}).status_code == 202
    assert commands.changes(f"name: Loud\n{hook}") == {"Loud": "keep"}
    assert details(owner, workspace)["Loud"]["version"] == 1


def test_written_out_credentials_are_not_exported(
    commands: Commands, owner: Api, workspace: str
) -> None:
    webhook = (
        "type: SEND_WEBHOOK, config: {url: 'https://example.com/', headers: {X-Api-Key: hush}}"
    )
    commands.apply(f"name: Leaky\nactions: [{{{webhook}}}]\n---\nname: Fine\n", "--yes")
    assert commands.run("automations", "export", exit_code=1) == "---\nname: Fine\nstatus: DRAFT\n"
    assert "Leaky is left out: actions[0].config.headers.X-Api-Key is written out" in commands.err
    assert "hush" not in commands.err
    assert len(details(owner, workspace)) == 2


def test_what_somebody_changes_in_between_is_left_alone(
    commands: Commands, owner: Api, workspace: str
) -> None:
    commands.apply("name: Busy\nstatus: ACTIVE\n", "--yes")
    busy = details(owner, workspace)["Busy"]
    file = commands.file("name: Busy\ndescription: mine\n")
    terminal, child_side = pty.openpty()
    with subprocess.Popen(
        [COMMAND, "automations", "apply", file],
        stdin=child_side,
        stdout=child_side,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TERM": "xterm"},
    ) as process:
        os.close(child_side)
        shown = b""
        while b"0 as they should be" not in shown:
            shown += os.read(terminal, 4096)
        owner.ok("PATCH", f"/automations/{busy['id']}", {"description": "theirs"})
        os.write(terminal, b"y\n")
        _, err = process.communicate(timeout=60)
    os.close(terminal)
    assert b"\x1b[32m    +description: mine\x1b[0m" in shown
    assert "Do it? [y/N]" in err
    assert "somebody has changed it since it was compared" in err
    assert process.returncode == 1
    assert details(owner, workspace)["Busy"]["description"] == "theirs"


def test_a_person_may_say_no(commands: Commands, owner: Api, workspace: str) -> None:
    terminal, child_side = pty.openpty()
    file = commands.file("name: Never\n")
    with subprocess.Popen(
        [COMMAND, "automations", "apply", file],
        stdin=child_side,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        os.write(terminal, b"n\n")
        out, err = process.communicate(timeout=60)
    os.close(child_side)
    os.close(terminal)
    assert process.returncode == 1
    assert "\x1b" not in out
    assert err.endswith("nothing was done\n")
    assert details(owner, workspace) == {}


@pytest.fixture
def failing(commands: Commands, owner: Api, workspace: str) -> Commands:
    """The commands, in a workspace where three runs have failed."""
    # Of forms, which the making of the records does not submit.
    text = AUTOMATIONS.replace("{Status: C", "{Nope: C").replace("RECORD_CREATED", "FORM_SUBMITTED")
    commands.apply(text, "--yes")
    database = database_of(owner, workspace)
    lines = [
        json.dumps(
            {
                "type": "form.submitted",
                "id": f"e{n}",
                "payload": {
                    "databaseId": database,
                    "recordId": record["id"],
                    "properties": {"Status": "B"},
                },
            }
        )
        for n, record in enumerate(
            owner.ok("POST", f"/databases/{database}/records", {"properties": {}}) for _ in range(3)
        )
    ]
    ids = commands.run("events", "send", commands.file("\n".join(lines), "e.jsonl")).split()
    assert len(set(ids)) == 3

    def failed() -> bool:
        rows = commands.json("runs", "list", "Triage new tickets", "--status", "FAILED")
        return len(rows) == 3

    eventually(failed, "three failed runs")
    return commands


def test_runs_are_listed_shown_and_followed_to_their_end(
    failing: Commands,
) -> None:
    commands = failing
    table = commands.run("runs", "list", "Triage new tickets").splitlines()
    assert table[0].split() == ["id", "status", "triggerType", "createdAt", "retryCount"]
    run_id = table[1].split()[0]
    assert "automationName" in commands.run("runs", "list").splitlines()[0]
    assert len(commands.json("runs", "list", "--limit", "2")) == 2
    assert [one["id"] for one in commands.json("runs", "list", "--root", run_id)] == [run_id]
    shown = commands.run("runs", "show", "Triage new tickets", run_id)
    assert f"run {run_id}  form.submitted" in shown
    assert "FAILED" in shown
    assert commands.json("runs", "show", "Triage new tickets")["id"] == run_id
    followed = commands.run("runs", "tail", "Triage new tickets", run_id, exit_code=1)
    assert "run created" in followed
    assert followed.splitlines()[-1].startswith("FAILED  ")
    lines = commands.run("runs", "tail", "Triage new tickets", "--json", exit_code=1).splitlines()
    assert json.loads(lines[0])["message"] == "run created"
    assert json.loads(lines[-1])["status"] == "FAILED"
    commands.run("runs", "show", "Triage new tickets", run_id[::-1], exit_code=3)


def test_failed_runs_are_retried_one_by_one_and_all_together(
    failing: Commands, stack: Stack
) -> None:
    commands = failing
    retry = ("runs", "retry", "Triage new tickets")
    again = commands.run(*retry, "--from", "0", "--tail", exit_code=1)
    assert "run retried manually" in again.splitlines()[0]
    assert "action 1/2 UPDATE_RECORD failed" in again
    assert commands.run("runs", "redrive", "--dry-run") == "3 runs would be retried\n"
    commands.run(*retry, "--from", "later", exit_code=1)
    commands.apply(AUTOMATIONS, "--yes")
    told = commands.run(*retry, "--version", "latest", "--tail")
    assert told.splitlines()[-1].startswith("SUCCEEDED  ")
    commands.run(*retry, exit_code=1)
    assert "NOT_RETRYABLE" in commands.err
    here = ("--automation", "Triage new tickets", "--status", "FAILED")
    assert commands.json("runs", "redrive", "--dry-run", *here)["count"] == 2
    assert commands.json("runs", "redrive", "--dry-run", "--status", "DEAD_LETTER")["count"] == 0
    sent = commands.json("runs", "redrive", "--yes", "--no-wait", *here)
    assert sent == {"count": 2, "dryRun": False}
    stack.invoke("RunWatchdogFunction", {})

    def failed() -> bool:
        return commands.run("runs", "redrive", "--dry-run", *here) == "2 runs would be retried\n"

    eventually(failed, "both have failed again, on their own version")


def test_a_run_that_does_not_end_is_followed_as_long_as_was_said(
    commands: Commands, owner: Api, workspace: str
) -> None:
    commands.apply("name: Slow\nactions: [{type: DELAY, config: {seconds: 3600}}]\n", "--yes")
    automation = details(owner, workspace)["Slow"]
    owner.ok("POST", f"/automations/{automation['id']}/run", {})
    commands.run("runs", "tail", "Slow", "--timeout", "1", exit_code=1)
    assert "has not ended after 1 s" in commands.err


def test_events_of_which_one_is_refused_are_told(commands: Commands) -> None:
    event = '{"type": "never", "payload": {}}'
    commands.run("events", "send", commands.file(event, "e.json"), exit_code=1)
    assert "0 of 1 events were taken before this one:" in commands.err
    assert "EVENT_TYPE_UNKNOWN" in commands.err


def test_a_schedule_is_previewed_in_both_clocks(commands: Commands) -> None:
    table = commands.run(
        *("cron", "preview", "30 2 * * *", "--tz", "America/New_York", "--count", "2"),
        *("--after", "2026-03-07T00:00:00Z"),
    ).splitlines()
    assert table[0].split() == ["UTC", "America/New_York"]
    assert table[1] == "2026-03-07T07:30:00.000Z  Sat 2026-03-07 02:30:00 -0500"
    assert len(table) == 3
    assert commands.json("cron", "preview", "0 9 * * *")["timeZone"] == "UTC"
    commands.run("cron", "preview", "0 9 * *", exit_code=1)
    assert "CRON_INVALID" in commands.err


def test_a_new_token_is_all_that_is_printed_and_it_works(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = commands.run("tokens", "create", "ci", "--expires", "2d")
    assert token.startswith("wt_")
    assert token.count("\n") == 1
    monkeypatch.setenv("WHENTHEN_TOKEN", token)
    made = commands.json("tokens", "create", "other")
    assert (made["name"], made["expiresAt"]) == ("other", None)
    commands.run("tokens", "create", "late", "--expires", "soon", exit_code=2)
    commands.run("tokens", "create", "late", "--expires", "2020-01-01T00:00:00Z", exit_code=1)


def test_what_the_credential_may_not_do_or_see_has_its_code(
    commands: Commands, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands.run("automations", "show", "None", exit_code=3)
    commands.run("automations", "list", "--workspace", stack.ready["workspaceId"])
    monkeypatch.setenv("WHENTHEN_TOKEN", stack.ready["viewerToken"])
    commands.run("automations", "list", exit_code=3)
    there = ("--workspace", stack.ready["workspaceId"])
    commands.run("automations", "list", *there)
    commands.apply(f"name: {uuid4().hex}\n", "--yes", *there, exit_code=4)
    commands.run("runs", "redrive", "--yes", *there, exit_code=4)
    monkeypatch.setenv("WHENTHEN_TOKEN", "wt_wrong")
    commands.run("automations", "list", exit_code=4)


def test_the_stack_is_migrated_and_gets_another_workspace_by_its_migrator(
    commands: Commands, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = ("--data", str(stack.data))
    migrated = commands.json("migrate", *here)
    assert migrated["applied"] == []
    assert commands.run("migrate", *here) == f"the schema is at {migrated['version']}\n"
    first = ("bootstrap", "--workspace", f"W {uuid4().hex}", "--email", "ada@example.com", *here)
    commands.run(*first, exit_code=1)
    assert "WORKSPACE_EXISTS" in commands.err
    golden = str(REPOSITORY / "events" / "bootstrap.json")
    told = json.loads(commands.run("invoke", "DbMigratorFunction", golden, *here))
    assert told["error"]["code"] == "WORKSPACE_EXISTS"
    made = commands.json(*first, "--another")
    monkeypatch.setenv("WHENTHEN_TOKEN", made["token"])
    monkeypatch.setenv("WHENTHEN_WORKSPACE", made["workspaceId"])
    commands.apply("name: The first\nstatus: ACTIVE\n", "--yes")
    assert "The first" in commands.run("automations", "list")
