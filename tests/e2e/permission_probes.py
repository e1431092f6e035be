"""For each statement of the template's roles: something that works only as long as it is there."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from samtranslator.yaml_helper import yaml_parse

from tests.e2e.conftest import PATIENCE_S, REPOSITORY, Api, Stack, eventually
from tests.e2e.stories import (
    RECONCILER,
    activate,
    add_record,
    ended_run,
    generate,
    mails_about,
    next_at,
    notify,
    put_schedule,
    send_email,
    the_run,
    update,
    webhook,
)
from tests.integration.webhook_target import Target, respond

TEMPLATE = REPOSITORY / "template.yaml"
# Of services that a stack on one machine has no use for.
NOT_EMULATED = frozenset({"WriteLogs", "Trace", "AttachToVpc"})
# Conditions of the template that do not hold here: mails go to SES.
NOT_HERE = frozenset({"HasSmtpSecret"})
REFUSED_AT_START = None


@dataclass
class Prober:
    """Does things to a running stack, and looks what came of them."""

    stack: Stack
    target: Target

    @cached_property
    def owner(self) -> Api:
        return self.stack.api(self.stack.ready["token"])

    @cached_property
    def tickets(self) -> str:
        made = self.owner.ok(
            "POST",
            f"/workspaces/{self.stack.ready['workspaceId']}/databases",
            {"name": "Probe", "properties": [{"name": "Name", "type": "text"}]},
        )
        return str(made["id"])

    def automation(self, *actions: dict[str, Any]) -> dict[str, Any]:
        return activate(self.owner, self.stack, self.tickets, *actions)

    def fire(self, *actions: dict[str, Any]) -> dict[str, Any]:
        automation = self.automation(*actions)
        add_record(self.owner, self.tickets, Name="probe")
        return automation

    def succeeded(self, automation: dict[str, Any]) -> bool:
        run = the_run(self.owner, automation)
        return run is not None and run["status"] == "SUCCEEDED"

    def has_event(self, **expected: str) -> bool:
        return any(
            all(str(event.get(key)) == value for key, value in expected.items())
            for event in self.stack.lines("events.jsonl")
        )

    def watch(self) -> None:
        self.stack.invoke("RunWatchdogFunction", {})


# Acts, and returns how to see that it worked.
Probe = Callable[[Prober], Callable[[], bool]]


def _api_answers(prober: Prober) -> Callable[[], bool]:
    # The bare HTTP status: without its database the API cannot even say who asks.
    api = prober.stack.api(prober.stack.ready["token"])
    status = api.call("GET", "/me").status_code
    return lambda: status == 200


def _record_event(prober: Prober) -> Callable[[], bool]:
    record_id = add_record(prober.owner, prober.tickets, Name="probe")
    return lambda: any(
        event.get("payload", {}).get("recordId") == record_id
        for event in prober.stack.lines("events.jsonl")
    )


def _manual_run(prober: Prober) -> Callable[[], bool]:
    automation = prober.automation(notify("probe"))
    prober.owner.ok("POST", f"/automations/{automation['id']}/run", {})
    return lambda: prober.succeeded(automation)


def _set_secret(prober: Prober) -> Callable[[], bool]:
    path = f"/workspaces/{prober.stack.ready['workspaceId']}/secrets/PROBE"
    status = prober.owner.call("PUT", path, {"value": "long enough"}).status_code
    return lambda: status == 204


def _sends_secret(prober: Prober) -> Callable[[], bool]:
    path = f"/workspaces/{prober.stack.ready['workspaceId']}/secrets/SENT"
    prober.owner.ok("PUT", path, {"value": "long enough"})
    url = prober.target.on(f"/{uuid4()}", respond(200))
    config = {"url": url, "headers": {"x-key": "{{secrets.SENT}}"}}
    automation = prober.fire({**webhook(url), "config": config})
    return lambda: prober.succeeded(automation)


def _run_starts(prober: Prober) -> Callable[[], bool]:
    automation = prober.fire(notify("probe"))
    return lambda: the_run(prober.owner, automation) is not None


def _run_succeeds(prober: Prober) -> Callable[[], bool]:
    automation = prober.fire(notify("probe"))
    return lambda: prober.succeeded(automation)


def _update_emits(prober: Prober) -> Callable[[], bool]:
    automation = prober.fire(update(Name="changed"))
    run = ended_run(prober.owner, automation)

    def emitted() -> bool:
        return any(
            event["type"] == "record.updated"
            and (event["automationContext"] or {}).get("runId") == run["id"]
            for event in prober.stack.lines("events.jsonl")
        )

    return emitted


def _is_retried(prober: Prober) -> Callable[[], bool]:
    url = prober.target.on(f"/{uuid4()}", respond(503), respond(200))
    automation = prober.fire(webhook(url))
    return lambda: prober.succeeded(automation)


def _death_is_told(prober: Prober) -> Callable[[], bool]:
    run_id = _dead_run(prober)
    return lambda: _told(prober, run_id)


def _dead_run(prober: Prober) -> str:
    url = prober.target.on(f"/{uuid4()}", respond(500))
    return str(ended_run(prober.owner, prober.fire(webhook(url, retries=0)))["id"])


def _told(prober: Prober, run_id: str) -> bool:
    found = prober.stack.sql(
        "select 1 from notifications where run_id = cast(:id as uuid)", id=run_id
    )
    return bool(found)


def _mail_is_sent(prober: Prober) -> Callable[[], bool]:
    automation = prober.fire(send_email("ada@example.com"))
    return lambda: prober.succeeded(automation)


def _model_answers(prober: Prober) -> Callable[[], bool]:
    automation = prober.fire(generate("Hello"))
    return lambda: prober.succeeded(automation)


def _death_is_mailed(prober: Prober) -> Callable[[], bool]:
    run_id = _dead_run(prober)
    return lambda: bool(mails_about(prober.stack, run_id))


def _sweep_tells(prober: Prober) -> Callable[[], bool]:
    run_id = _dead_run(prober)
    eventually(lambda: _told(prober, run_id), "the executor's own notice", PATIENCE_S)
    prober.stack.sql("delete from notifications where run_id = cast(:id as uuid)", id=run_id)
    prober.stack.sql(
        "update automation_runs set notified_death = 0, enqueue_after = whenthen_now()"
        " where id = cast(:id as uuid)",
        id=run_id,
    )
    prober.watch()
    return lambda: _told(prober, run_id)


def _sweep_sends(prober: Prober) -> Callable[[], bool]:
    path = f"/{uuid4()}"
    url = prober.target.on(path, respond(503, retry_after="800"), respond(200))
    automation = prober.fire(webhook(url))

    def waiting() -> bool:
        run = the_run(prober.owner, automation)
        return run is not None and (run["status"], run["retryCount"]) == ("PENDING", 1)

    eventually(waiting, "the run waits", PATIENCE_S)
    prober.stack.sql(
        "update automation_runs set due_at = whenthen_now(), enqueue_after = whenthen_now()"
        " where automation_id = cast(:id as uuid)",
        id=automation["id"],
    )
    prober.watch()
    return lambda: prober.succeeded(automation)


def _sweep_relays(prober: Prober) -> Callable[[], bool]:
    event_id = f"evt:probe:{uuid4()}"
    prober.stack.sql(
        "insert into outbox (id, workspace_id, event_id, type, payload, relay_at) values"
        " (gen_random_uuid(), cast(:w as uuid), :e, 'record.created', '{}', whenthen_now())",
        w=prober.stack.ready["workspaceId"],
        e=event_id,
    )
    prober.watch()
    return lambda: prober.has_event(id=event_id)


def _schedule_fires(prober: Prober) -> Callable[[], bool]:
    automation = prober.automation(notify("probe"))
    put_schedule(prober.owner, automation, runEvery=86_400)
    prober.stack.try_to_invoke(RECONCILER, {"now": next_at(prober.stack, automation).isoformat()})
    return lambda: prober.succeeded(automation)


def _tells_of_rates(prober: Prober) -> Callable[[], bool]:
    """Let the day's limit end a run: only then has the matcher something to tell."""
    made = prober.owner.ok(
        "POST",
        f"/workspaces/{prober.stack.ready['workspaceId']}/automations",
        {
            "name": "Over the limit",
            "triggers": [{"type": "WEBHOOK", "config": {}}],
            "actions": [notify("probe")],
        },
    )
    prober.owner.ok("POST", f"/automations/{made['id']}/status", {"status": "ACTIVE"})
    prober.stack.sql(
        "insert into automation_rate (automation_id, span, bucket, n) select cast(:id as uuid),"
        " 'day', date_trunc('day', whenthen_now(), 'UTC') + day * interval '1 day', 1000000000"
        " from generate_series(0, 1) day",
        id=made["id"],
    )
    assert httpx.post(made["webhook"]["url"], json={}, timeout=PATIENCE_S).status_code == 202
    return lambda: _is_told(prober, made)


def _tells_of_withdrawals(prober: Prober) -> Callable[[], bool]:
    """Let the reconciler find that an automation has stopped whose run lies ahead."""
    automation = prober.automation(notify("probe"))
    put_schedule(prober.owner, automation, runEvery=86_400)
    soon = next_at(prober.stack, automation) - timedelta(seconds=50)
    prober.stack.try_to_invoke(RECONCILER, {"now": soon.isoformat()})
    prober.stack.sql(
        "update automations set status = 'PAUSED', active_since = null"
        " where id = cast(:id as uuid)",
        id=automation["id"],
    )
    prober.stack.try_to_invoke(RECONCILER, {"now": soon.isoformat()})
    return lambda: _is_told(prober, automation)


def _is_told(prober: Prober, automation: dict[str, Any]) -> bool:
    return any(
        event["type"] == "automation.executed"
        and event["payload"]["automationId"] == automation["id"]
        for event in prober.stack.lines("events.jsonl")
    )


# (role, statement) → probe; None where the stack, as Lambda, refuses to begin without it.
PROBES: dict[tuple[str, str], Probe | None] = {
    ("HttpApiRole", "ReadDatabaseSecret"): _api_answers,
    ("HttpApiRole", "PublishEvents"): _record_event,
    ("HttpApiRole", "SendRuns"): _manual_run,
    ("HttpApiRole", "EncryptSecrets"): _set_secret,
    ("DbMigratorRole", "ReadDatabaseSecret"): REFUSED_AT_START,
    ("StreamMatcherRole", "ReadEvents"): REFUSED_AT_START,
    ("StreamMatcherRole", "PublishEvents"): _tells_of_rates,
    ("StreamMatcherRole", "KeepFailedBatches"): REFUSED_AT_START,
    ("StreamMatcherRole", "FindFailureBucket"): REFUSED_AT_START,
    ("StreamMatcherRole", "ReadDatabaseSecret"): _run_starts,
    ("StreamMatcherRole", "SendRuns"): _run_succeeds,
    ("RunExecutorRole", "ReceiveRuns"): REFUSED_AT_START,
    ("RunExecutorRole", "ReadDatabaseSecret"): _run_succeeds,
    ("RunExecutorRole", "PublishEvents"): _update_emits,
    ("RunExecutorRole", "SendRuns"): _is_retried,
    ("RunExecutorRole", "SendNotices"): _death_is_told,
    ("RunExecutorRole", "SendMail"): _mail_is_sent,
    ("RunExecutorRole", "AskModels"): _model_answers,
    ("RunExecutorRole", "DecryptSecrets"): _sends_secret,
    ("ScheduleReconcilerRole", "ReadDatabaseSecret"): _schedule_fires,
    ("ScheduleReconcilerRole", "SendRuns"): _schedule_fires,
    ("ScheduleReconcilerRole", "PublishEvents"): _tells_of_withdrawals,
    ("RunWatchdogRole", "ReadDatabaseSecret"): REFUSED_AT_START,
    ("RunWatchdogRole", "PublishEvents"): _sweep_relays,
    ("RunWatchdogRole", "SendRuns"): _sweep_sends,
    ("RunWatchdogRole", "SendNotices"): _sweep_tells,
    ("DlqNotifierRole", "ReadDatabaseSecret"): _death_is_told,
    ("DlqNotifierRole", "SendMail"): _death_is_mailed,
    ("DlqNotifierRole", "ReceiveNotices"): REFUSED_AT_START,
    ("DlqNotifierRole", "ReceiveDeadLetters"): REFUSED_AT_START,
}


def statements() -> dict[tuple[str, str], list[str]]:
    """Every statement that a stack on one machine needs, with its actions."""
    found = {}
    for role, resource in yaml_parse(TEMPLATE.read_text("utf-8"))["Resources"].items():
        # A role with a condition belongs to a database that only a deployment creates.
        if resource["Type"] == "AWS::IAM::Role" and "Condition" not in resource:
            for statement in resource["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]:
                condition, statement, _ = statement.get("Fn::If", (None, statement, None))  # noqa: PLW2901
                sid = statement["Sid"]
                if sid not in NOT_EMULATED and condition not in NOT_HERE:
                    actions = statement["Action"]
                    found[role, sid] = actions if isinstance(actions, list) else [actions]
    return found


def template_without(role: str, sid: str, folder: Path) -> Path:
    """Write the template without one statement, and return its path."""
    before, begin, after = TEMPLATE.read_text("utf-8").partition(f"\n  {role}:\n")
    assert begin
    # Statements are the items of a list, some within a condition; the first part is no item.
    first, *parts = after.split("\n              - ")
    own = next(n for n, part in enumerate(parts) if f"Sid: {sid}\n" in part)
    kept = [first, *parts[:own], *parts[own + 1 :]]
    path = folder / "template.yaml"
    path.write_text(before + begin + "\n              - ".join(kept))
    return path
