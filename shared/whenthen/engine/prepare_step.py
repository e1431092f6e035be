"""From a stored action to a request that its executor can carry out: validate, then fill in."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from whenthen.actions.requests import StepRequest
from whenthen.domain import instants
from whenthen.domain.ids import parse_id
from whenthen.domain.rules import log_lines
from whenthen.domain.rules.interpolation import ActionOutputs, interpolate
from whenthen.domain.rules.loop_guard import child_context
from whenthen.domain.rules.template_places import needs_value
from whenthen.domain.schemas.actions import stored_config
from whenthen.engine.run_progress import RunProgress
from whenthen.settings import Settings


def prepare_step(progress: RunProgress, settings: Settings) -> StepRequest:
    """Return the request for the run's present action.

    Text templates without a value become empty and leave a warning line with the run.

    Raises:
        FatalError: the stored config no longer validates (ACTION_CONFIG_INVALID), or a required
            template has no value (TEMPLATE_MISSING).

    """
    run, action = progress.run, progress.action
    config = stored_config(action.type, action.config)
    filled = interpolate(config, _roots(progress), partial(needs_value, action.type))
    progress.pending_lines = [log_lines.template_value_missing(path) for path in filled.missing]
    chain = tuple(link for text in run.chain if (link := parse_id(text)) is not None)
    return StepRequest(
        run_id=run.id,
        workspace_id=run.workspace_id,
        automation_id=run.automation_id,
        generation=run.generation,
        action_id=action.id,
        config=filled.config,
        record_id=run.record_id,
        actor_id=_actor(run.input),
        child_context=child_context(run.automation_id, run.id, run.root_run_id, run.depth, chain),
        timeout_s=action.timeout_s,
        settings=settings,
    )


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


def _actor(stored: Mapping[str, Any]) -> str | None:
    actor_id = stored["payload"].get("actorId")
    return actor_id if isinstance(actor_id, str) else None
