"""What the stories have in common: automations, their runs, and a target for their webhooks."""

import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from time import monotonic
from typing import Any

from tests.e2e.conftest import PATIENCE_S, Api, Stack, eventually
from tests.integration.webhook_target import Behaviour, Hit, Target

Json = dict[str, Any]
RECONCILER = "ScheduleReconcilerFunction"


@contextmanager
def target_of_its_own() -> Iterator[Target]:
    target = Target()
    try:
        yield target
    finally:
        target.close()


def webhook(url: str, **more: Any) -> Json:
    return {"type": "SEND_WEBHOOK", "config": {"url": url}, **more}


def notify(title: str) -> Json:
    return {"type": "CREATE_NOTIFICATION", "config": {"title": title}}


def send_email(*to: str, **config: Any) -> Json:
    content = {"to": list(to), "subject": "Hello", "text": "Hello"} | config
    given = {key: value for key, value in content.items() if value is not ...}
    return {"type": "SEND_EMAIL", "config": given}


def generate(prompt: str, **config: Any) -> Json:
    return {"type": "AI_GENERATE", "config": {"prompt": prompt, **config}}


def mails(stack: Stack) -> list[EmailMessage]:
    """The mails that the stack has kept so far, oldest first."""
    return [
        message_from_bytes(path.read_bytes(), policy=policy.default)
        for path in sorted((stack.data / "mail").glob("*.eml"))
    ]


def mails_about(stack: Stack, run_id: str) -> list[EmailMessage]:
    """Those of the mails that a run's step sent, or that tell of its death."""
    return [mail for mail in mails(stack) if run_id in str(mail["X-Whenthen-Id"])]


def files_of(stack: Stack) -> Iterator[tuple[Path, bytes]]:
    """Every file that a running stack has written, but those that it takes away meanwhile."""
    yield stack.log, stack.log.read_bytes()
    for folder, _, names in os.walk(stack.data):
        for path in (Path(folder) / name for name in names):
            with suppress(FileNotFoundError):
                if path.is_file():
                    content = path.read_bytes()
                    yield path, content


def update(**values: Any) -> Json:
    return {
        "type": "UPDATE_RECORD",
        "config": {"recordId": "from_trigger", "propertyValues": values},
    }


def activate(owner: Api, stack: Stack, tickets: str, *actions: Json) -> Json:
    """Make an ACTIVE automation that takes `actions` when a record of `tickets` is created."""
    made = owner.ok(
        "POST",
        f"/workspaces/{stack.ready['workspaceId']}/automations",
        {
            "name": "Story",
            "databaseId": tickets,
            "triggers": [{"type": "RECORD_CREATED", "config": {}}],
            "actions": list(actions),
        },
    )
    detail: Json = owner.ok("POST", f"/automations/{made['id']}/status", {"status": "ACTIVE"})
    return detail


def put_schedule(owner: Api, automation: Mapping[str, Any], **config: Any) -> None:
    """Let an automation be started by one schedule, and by nothing else."""
    triggers = [{"type": "SCHEDULE", "config": config}]
    owner.ok("PUT", f"/automations/{automation['id']}/triggers", {"triggers": triggers})


def next_at(stack: Stack, automation: Mapping[str, Any]) -> datetime:
    """The next instant of the automation's one schedule."""
    (row,) = stack.sql(
        "select next_at from schedules where automation_id = cast(:id as uuid)",
        id=automation["id"],
    )
    at: datetime = row["next_at"]
    return at


def add_record(owner: Api, tickets: str, **properties: Any) -> str:
    made = owner.ok("POST", f"/databases/{tickets}/records", {"properties": properties})
    return str(made["id"])


def the_run(owner: Api, automation: Mapping[str, Any]) -> Json | None:
    """The automation's one run, whole; None as long as there is none."""
    path = f"/automations/{automation['id']}/runs"
    runs = owner.ok("GET", path)["data"]
    assert len(runs) <= 1
    return owner.ok("GET", f"{path}/{runs[0]['id']}") if runs else None


def ended_run(owner: Api, automation: Mapping[str, Any]) -> Json:
    """The automation's one run, once it has ended."""

    def look() -> Json | None:
        run = the_run(owner, automation)
        return run if run and run["finishedAt"] else None

    return eventually(look, "the run has ended", PATIENCE_S)


def webhook_ids(hits: list[Hit], path: str) -> list[str]:
    return [hit.headers["webhook-id"] for hit in hits if hit.target == path]


def timed(times: list[float], behaviour: Behaviour) -> Behaviour:
    """Behave so, and note when."""

    def behave(connection: socket.socket, hit: Hit) -> None:
        times.append(monotonic())
        behaviour(connection, hit)

    return behave


def held(arrived: Callable[[int], object]) -> Behaviour:
    """Say nothing until the caller is gone; tell `arrived` the port that it called from."""

    def behave(connection: socket.socket, _hit: Hit) -> None:
        arrived(connection.getpeername()[1])
        while connection.recv(65_536):
            pass

    return behave


def slow(pause_s: float, behaviour: Behaviour) -> Behaviour:
    """Behave so after a pause."""

    def behave(connection: socket.socket, hit: Hit) -> None:
        threading.Event().wait(pause_s)
        behaviour(connection, hit)

    return behave


def process_with_port(port: int, pids: list[int]) -> int:
    """Which of these processes has a connection from this local port."""
    wanted = f":{port:04X}"
    inodes = {
        fields[9]
        for fields in map(str.split, Path("/proc/net/tcp").read_text().splitlines()[1:])
        if fields[1].endswith(wanted)
    }
    sockets = {f"socket:[{inode}]" for inode in inodes}
    for pid in pids:
        if any(str(fd.readlink()) in sockets for fd in Path(f"/proc/{pid}/fd").iterdir()):
            return pid
    raise AssertionError(f"none of {pids} has a connection from port {port}")
