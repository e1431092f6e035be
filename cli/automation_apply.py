"""Carries out one planned change, request by request."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

from cli import json_text
from cli.api import Api, RefusedError, segment
from cli.automation_plan import Body, Change
from cli.exits import FAILED, CommandError

# Triggers come last: whatever they let in meets the new condition and the new actions.
_PUTS: Final = {"condition": "/conditions", "actions": "/actions", "triggers": "/triggers"}
# Refusals that a deployment keeps for a day under the key of the request.
_KEPT: Final = frozenset({403, 404, 422})
_MISMATCH: Final = 412


def carry_out(api: Api, workspace_id: str, change: Change) -> dict[str, Any] | None:
    """Do what the change says and return the webhook `{"url", "secret"}` that was made, if any.

    Every request of it may have been made before: what already is as wanted changes nothing.

    Raises:
        CommandError: refused, with the file and line of each problem; or somebody else has
            changed the automation since it was compared.

    """
    try:
        if change.kind == "create":
            return _create(api, workspace_id, change)
        return _change(api, change)
    except RefusedError as error:
        if error.status == _MISMATCH:
            raise _overtaken(change) from error
        problems = [
            change.wanted.document.problem(one["path"], one["message"]) for one in error.details
        ]
        if not problems:
            problems = [change.wanted.document.problem("", str(error))]
        raise CommandError("\n".join(problems), error.exit_code) from error


def _create(api: Api, workspace_id: str, change: Change) -> dict[str, Any] | None:
    made = _made(api, workspace_id, change.parts["create"])
    path = f"/automations/{made['id']}"
    for status in change.statuses:
        # The key: of two that create it at once, only one takes it there.
        key = {"Idempotency-Key": f"apply-{status}"}
        api.call("POST", f"{path}/status", {"status": status}, key)
    if "triggers" in change.parts:
        made = api.call("PUT", f"{path}/triggers", change.parts["triggers"])
    return _webhook(made)


def _made(api: Api, workspace_id: str, body: Body) -> dict[str, Any]:
    """Return the automation that is made of `body`, by this request or one at the same time."""
    path = f"/workspaces/{segment(workspace_id)}/automations"
    gone: list[str] = []
    while True:
        made = _posted(api, path, body, _key(workspace_id, body, gone))
        now = api.call("GET", f"/automations/{made['id']}")
        if now["status"] != "ARCHIVED" and now["name"] == body["name"]:
            return made
        # Made earlier this day, and archived or renamed since: the next one has another key.
        gone.append(made["id"])


def _posted(api: Api, path: str, body: Body, key: str) -> dict[str, Any]:
    posted: dict[str, Any]
    try:
        posted = api.call("POST", path, body, {"Idempotency-Key": key})
    except RefusedError as error:
        if error.status not in _KEPT:
            raise
        # Perhaps an answer of hours ago, and what it complains of has been mended.
        posted = api.call("POST", path, body)
    return posted


def _key(workspace_id: str, body: Body, gone: Sequence[str]) -> str:
    text = json_text.dumps([workspace_id, body, gone])
    return f"apply-{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _change(api: Api, change: Change) -> dict[str, Any] | None:
    before = change.present or {}
    path = f"/automations/{before['id']}"
    _require_same(change, api.call("GET", path))
    version, webhook = before["version"], None
    for method, route, body in _writes(change):
        answer = api.call(method, f"{path}{route}", body, {"If-Match": str(version)}) or {}
        version = answer.get("version")
        webhook = _webhook(answer) or webhook
    return webhook


def _writes(change: Change) -> list[tuple[str, str, Body | None]]:
    """Return method, path below the automation's and body of each request, in order."""
    if change.kind == "archive":
        return [("DELETE", "", None)]
    statuses: list[tuple[str, str, Body | None]] = [
        ("POST", "/status", {"status": status}) for status in change.statuses
    ]
    parts: list[tuple[str, str, Body | None]] = [
        ("PUT", route, change.parts[part]) for part, route in _PUTS.items() if part in change.parts
    ]
    if "head" in change.parts:
        parts.insert(0, ("PATCH", "", change.parts["head"]))
    # What is to stop, stops first; what is to start, starts when all is in place.
    return statuses + parts if "PAUSED" in change.statuses else parts + statuses


def _require_same(change: Change, now: dict[str, Any]) -> None:
    before = change.present or {}
    if (now["version"], now["status"]) != (before["version"], before["status"]):
        raise _overtaken(change)


def _overtaken(change: Change) -> CommandError:
    told = "somebody has changed it since it was compared: what was still to do was left"
    return CommandError(change.wanted.document.problem("", told), FAILED)


def _webhook(answer: dict[str, Any]) -> dict[str, Any] | None:
    webhook: dict[str, Any] | None = answer.get("webhook")
    # An answer that is given again shows no secret.
    return webhook if webhook and webhook["url"] else None
