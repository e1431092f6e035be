"""Carries out one planned change, request by request."""

from typing import Any, Final

from cli.api import Api, RefusedError, segment
from cli.automation_plan import Change
from cli.exits import FAILED, CommandError

# Triggers come last: whatever they let in meets the new condition and the new actions.
_PUTS: Final = ("condition", "actions", "triggers")
_ROUTES: Final = {"condition": "conditions", "actions": "actions", "triggers": "triggers"}


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
        problems = [
            change.wanted.document.problem(one["path"], one["message"]) for one in error.details
        ]
        if not problems:
            problems = [change.wanted.document.problem("", str(error))]
        raise CommandError("\n".join(problems), error.exit_code) from error


def _create(api: Api, workspace_id: str, change: Change) -> dict[str, Any] | None:
    path = f"/workspaces/{segment(workspace_id)}/automations"
    made = api.call("POST", path, change.parts["create"])
    _take(api, made["id"], change)
    if "triggers" in change.parts:
        made = api.call("PUT", f"/automations/{made['id']}/triggers", change.parts["triggers"])
    return _webhook(made)


def _change(api: Api, change: Change) -> dict[str, Any] | None:
    before = change.present or {}
    path = f"/automations/{before['id']}"
    _require_same(change, api.call("GET", path))
    if change.kind == "archive":
        api.call("DELETE", path)
        return None
    # What is to stop, stops first; what is to start, starts when all is in place.
    if "PAUSED" in change.statuses:
        _take(api, before["id"], change)
    if "head" in change.parts:
        api.call("PATCH", path, change.parts["head"])
    webhook = None
    for part in _PUTS:
        if part in change.parts:
            edited = api.call("PUT", f"{path}/{_ROUTES[part]}", change.parts[part])
            webhook = _webhook(edited) or webhook
    if "PAUSED" not in change.statuses:
        _take(api, before["id"], change)
    return webhook


def _take(api: Api, automation_id: str, change: Change) -> None:
    for status in change.statuses:
        api.call("POST", f"/automations/{automation_id}/status", {"status": status})


def _require_same(change: Change, now: dict[str, Any]) -> None:
    before = change.present or {}
    if (now["version"], now["status"]) != (before["version"], before["status"]):
        told = "somebody has changed it since it was compared: nothing was done to it"
        raise CommandError(change.wanted.document.problem("", told), FAILED)


def _webhook(answer: dict[str, Any]) -> dict[str, Any] | None:
    webhook: dict[str, Any] | None = answer.get("webhook")
    return webhook
