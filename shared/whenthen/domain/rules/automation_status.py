"""Which status an automation may take next."""

from collections.abc import Mapping
from typing import Final

from whenthen.domain.errors import ConflictError
from whenthen.domain.kinds import AutomationStatus

# There is no completeness gate: an automation without triggers may be ACTIVE and matches nothing.
AUTOMATION_TRANSITIONS: Final[Mapping[AutomationStatus, frozenset[AutomationStatus]]] = {
    AutomationStatus.DRAFT: frozenset({AutomationStatus.ACTIVE, AutomationStatus.ARCHIVED}),
    AutomationStatus.ACTIVE: frozenset({AutomationStatus.PAUSED, AutomationStatus.ARCHIVED}),
    AutomationStatus.PAUSED: frozenset({AutomationStatus.ACTIVE, AutomationStatus.ARCHIVED}),
    AutomationStatus.ARCHIVED: frozenset(),
}


def transition(from_: AutomationStatus, to: AutomationStatus) -> None:
    """Return only if an automation in `from_` may take the status `to`.

    Raises:
        ConflictError: `ARCHIVED` when `from_` is ARCHIVED, whatever `to` is; else
            `INVALID_TRANSITION` with details such as
            `{"reason": "no_op", "from": "ACTIVE", "to": "ACTIVE"}`.

    Source: docs/architecture.md, "Automation status".
    """
    refuse_archived(from_)
    if to in AUTOMATION_TRANSITIONS[from_]:
        return
    reason = "no_op" if from_ == to else "invalid_transition"
    raise ConflictError(
        "INVALID_TRANSITION",
        f"an automation cannot go from {from_} to {to}",
        {"reason": reason, "from": from_.value, "to": to.value},
    )


def refuse_archived(status: AutomationStatus) -> None:
    """Return only if an automation in `status` may still be written to.

    Raises:
        ConflictError: `ARCHIVED` when it is archived, which is final.
    """
    if status is AutomationStatus.ARCHIVED:
        raise ConflictError("ARCHIVED", "the automation is archived")
