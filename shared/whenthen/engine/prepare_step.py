"""From a stored action to a request that its executor can carry out: validate, then fill in."""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from whenthen.actions.requests import StepRequest
from whenthen.domain import instants
from whenthen.domain.errors import FatalError
from whenthen.domain.ids import parse_id
from whenthen.domain.kinds import ActionType
from whenthen.domain.rules import log_lines
from whenthen.domain.rules.interpolation import ActionOutputs, check_templates, interpolate
from whenthen.domain.rules.loop_guard import child_context
from whenthen.domain.rules.named_secrets import redact_told
from whenthen.domain.rules.template_places import is_html, may_hold_secret, needs_value
from whenthen.domain.schemas.actions import stored_config
from whenthen.engine.run_progress import RunProgress
from whenthen.settings import Settings


def prepare_step(
    progress: RunProgress,
    settings: Settings,
    secrets: Mapping[str, str] = MappingProxyType({}),
    *,
    timeout_s: float | None = None,
) -> StepRequest:
    """Return the request for the run's present action.

    Text templates without a value become empty and leave a warning line with the run. `secrets`
    are those that the action names, as far as there are any. `timeout_s` is what is left of the
    action's own, if not all of it.

    Raises:
        FatalError: the stored config no longer validates (ACTION_CONFIG_INVALID), or a required
            template has no value (TEMPLATE_MISSING, SECRET_UNKNOWN).

    """
    run, action = progress.run, progress.action
    config = stored_config(action.type, action.config)
    if secrets:
        _check_secret_places(action.type, config)
    filled = interpolate(
        config,
        {**_roots(progress), "secrets": secrets},
        partial(needs_value, action.type),
        partial(is_html, action.type),
    )
    progress.pending_lines = [log_lines.template_value_missing(path) for path in filled.missing]
    chain = tuple(link for text in run.chain if (link := parse_id(text)) is not None)
    return StepRequest(
        run_id=run.id,
        workspace_id=run.workspace_id,
        automation_id=run.automation_id,
        generation=run.generation,
        action_id=action.id,
        config=redact_told(action.type, filled.config, progress.secret_values),
        record_id=run.record_id,
        actor_id=run.actor_id,
        child_context=child_context(run.automation_id, run.id, run.root_run_id, run.depth, chain),
        timeout_s=action.timeout_s if timeout_s is None else timeout_s,
        settings=settings,
        secrets=progress.secret_values,
    )


def _check_secret_places(action_type: ActionType, config: Mapping[str, Any]) -> None:
    """Refuse what saving refuses: a secret in the URL beside the places where it may stand."""
    allowed = partial(may_hold_secret, action_type)
    for problem in check_templates(config, secrets_allowed=allowed):
        if problem.code == "SECRET_INVALID":
            raise FatalError("ACTION_CONFIG_INVALID", f"{problem.path}: {problem.message}")


def record_properties(progress: RunProgress) -> Mapping[str, Any]:
    """Return the properties of the event's record: as the event saw them, else as they are now.

    A snapshot that was cut to size may lack properties, so then the row's serve.
    """
    snapshot = progress.run.input["payload"].get("properties")
    if isinstance(snapshot, dict) and not progress.run.input.get("truncated"):
        return snapshot
    return progress.run.record_properties or {}


def _roots(progress: RunProgress) -> dict[str, Any]:
    run = progress.run
    database_id = progress.event.get("databaseId") or run.record_database_id
    return {
        "trigger": progress.event,
        "record": {
            **record_properties(progress),
            "id": run.record_id,
            "databaseId": None if database_id is None else str(database_id),
        },
        "run": {
            "id": str(run.id),
            "createdAt": instants.to_text(run.created_at),
            "triggerType": run.trigger_type,
            "depth": run.depth,
        },
        "automation": {"id": str(run.automation_id), "name": run.automation_name},
        "workspace": {"id": str(run.workspace_id), "name": run.workspace_name},
        "actions": ActionOutputs(
            [
                (str(action.id), progress.finished[action.id].output)
                for action in progress.actions[: progress.index]
            ]
        ),
        "now": instants.to_text(run.started_at),
    }
