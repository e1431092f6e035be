"""What an automation would do with an event: everything is evaluated and nothing is done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from whenthen.domain.errors import FatalError
from whenthen.domain.kinds import AutomationStatus, TriggerType
from whenthen.domain.rules.condition import Evaluation, evaluate
from whenthen.domain.rules.loop_guard import loop_guard
from whenthen.domain.rules.matching import Candidate, trigger_scope
from whenthen.domain.rules.would_match import Obstacle, is_started_by, obstacle
from whenthen.domain.schemas.dry_run import DryRunBody
from whenthen.domain.schemas.events import Event
from whenthen.engine.dry_run_scene import Scene, scene
from whenthen.engine.edit_definition import detail_of
from whenthen.engine.shown_actions import ShownAction, as_stored, filled_in
from whenthen.engine.tried_event import tried_event
from whenthen.store import clock
from whenthen.store.automations import AutomationDetail

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True, slots=True)
class DryRun:
    """`obstacle` is None when a run would act.

    `condition` is None when there is none, or no event to try it with.
    """

    obstacle: Obstacle | None
    event: Mapping[str, Any] | None
    condition: Evaluation | None
    actions: Sequence[ShownAction]


def dry_run(
    connection: "Connection",
    automation_id: UUID,
    body: DryRunBody,
    *,
    max_depth: int,
    sanitized: bool,
) -> DryRun:
    """Return what the present definition would make of the event that `body` means.

    Nothing is written, sent or locked. The event counts as happening now, whenever it did.
    Condition and actions are shown whatever stands against the run.

    Raises:
        InvalidError: the automation has no such run.

    """
    automation = detail_of(connection, automation_id)
    now = clock.now(connection)
    tried = tried_event(connection, automation, body, now, sanitized=sanitized)
    if tried is None:
        return DryRun(Obstacle.NO_EVENT, None, None, as_stored(automation.actions))
    seen = scene(connection, automation, tried, now)
    condition = _evaluated(automation, seen)
    against = obstacle(
        event=tried.event,
        started=is_started_by(tried.event, _candidates(automation, tried.event)),
        status=AutomationStatus(automation.status),
        looped=loop_guard(tried.event.automation_context, automation.id, max_depth),
        holds=condition is None or condition.result,
    )
    return DryRun(against, seen.event, condition, filled_in(automation.actions, seen))


def _evaluated(automation: AutomationDetail, seen: Scene) -> Evaluation | None:
    if automation.condition is None:
        return None
    try:
        return evaluate(automation.condition, seen.event, seen.properties, seen.property_types)
    except FatalError:
        # A tree of older code that is none any more: a run would fail with it, unexplained.
        return Evaluation(result=False, explain={})


def _candidates(automation: AutomationDetail, event: Event) -> list[Candidate]:
    return [
        Candidate(
            automation_id=automation.id,
            workspace_id=automation.workspace_id,
            version=automation.version,
            trigger_id=UUID(one["id"]),
            position=position,
            type=TriggerType(one["type"]),
            config=one["config"],
            scope_id=trigger_scope(
                TriggerType(one["type"]),
                one["config"],
                automation_id=automation.id,
                workspace_id=automation.workspace_id,
                database_id=automation.database_id,
            ),
            active_since=event.occurred_at,
        )
        for position, one in enumerate(automation.triggers)
    ]
