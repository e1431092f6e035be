"""How chains of automations that start each other come to an end.

Every event that a run emits carries a context one deeper than the run, so the guard bounds any
chain: an automation is never started by its own event, and no run at the depth limit acts.
"""

from uuid import UUID

from whenthen.domain.kinds import SkipReason
from whenthen.domain.schemas.events import AutomationContext


def loop_guard(
    context: AutomationContext | None, automation_id: UUID, max_depth: int
) -> SkipReason | None:
    """Return why a run of this automation must not act, or None.

    `context` is that of the event which started the run. The self-trigger is asked for first: it
    names the cause better than the depth that it may have as well.

    Source: docs/architecture.md, "Loops".
    """
    if context is None:
        return None
    if context.automation_id == automation_id:
        return SkipReason.SELF_TRIGGER
    return SkipReason.DEPTH_LIMIT if context.depth >= max_depth else None


def child_context(
    automation_id: UUID, run_id: UUID, root_run_id: UUID, depth: int, chain: tuple[UUID, ...]
) -> AutomationContext:
    """Return the context of the events that a run emits; `depth` and `chain` are the run's own.

    `chain` lists the automations passed through, the root's first and without the run's own.
    """
    return AutomationContext(
        automation_id=automation_id,
        run_id=run_id,
        root_run_id=root_run_id,
        depth=depth + 1,
        chain=(*chain, automation_id),
    )
