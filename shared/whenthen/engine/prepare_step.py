"""From a stored action to a request that its executor can carry out: validate, then fill in."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from whenthen.actions.requests import StepRequest
from whenthen.domain import instants
from whenthen.domain.errors import FatalError
from whenthen.domain.kinds import ActionType
from whenthen.domain.rules import log_lines
from whenthen.domain.rules.interpolation import ActionOutputs, check_templates, interpolate
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
    config = _valid_config(progress)
    if secrets:
        _check_secret_places(action.type, config)
    filled = interpolate(
        config,
        {**_roots(progress), "secrets": secrets},
        partial(needs_value, action.type),
        partial(is_html, action.type),
    )
    progress.pending_lines = [log_lines.template_value_missing(path) for path in filled.missing]
    return StepRequest(
        run_id=run.id,
        workspace_id=run.workspace_id,
        automation_id=run.automation_id,
        generation=run.generation,
        action_id=action.id,
        config=redact_told(action.type, filled.config, progress.secret_values),
        record_id=run.record_id,
        actor_id=run.actor_id,
        child_context=progress.child_context,
        timeout_s=action.timeout_s if timeout_s is None else timeout_s,
        settings=settings,
        secrets=progress.secret_values,
    )


def _valid_config(progress: RunProgress) -> dict[str, Any]:
    """Return the present action's config, which runs that share it need to validate but once."""
    action, known = progress.action, progress.definition.valid_configs
    if action.index not in known:
        known[action.index] = stored_config(action.type, action.config)
    return known[action.index]


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


def _roots(progress: RunProgress) -> dict[str, Callable[[], Any]]:
    """Return what templates may name, each root as a function: most steps name one or none."""
    run = progress.run
    return {
        "trigger": lambda: progress.event,
        "record": lambda: _record(progress),
        "run": lambda: {
            "id": str(run.id),
            "createdAt": instants.to_text(run.created_at),
            "triggerType": run.trigger_type,
            "depth": run.depth,
        },
        "automation": lambda: {"id": str(run.automation_id), "name": run.automation_name},
        "workspace": lambda: {"id": str(run.workspace_id), "name": run.workspace_name},
        "actions": lambda: ActionOutputs(
            [
                (str(action.id), progress.finished[action.id].output)
                for action in progress.actions[: progress.index]
            ]
        ),
        "now": lambda: instants.to_text(run.started_at),
    }


def _record(progress: RunProgress) -> dict[str, Any]:
    database_id = progress.event.get("databaseId") or progress.run.record_database_id
    return {
        **record_properties(progress),
        "id": progress.run.record_id,
        "databaseId": None if database_id is None else str(database_id),
    }
