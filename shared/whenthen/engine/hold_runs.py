"""The first statement of every step transaction: the last word on whether a run may act."""

import logging
from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.engine.run_progress import RunProgress
from whenthen.store.run_holds import Holding, hold

_log = logging.getLogger("whenthen.execute")


def hold_at_step(connection: Connection, runs: Sequence[RunProgress]) -> dict[UUID, Holding]:
    """Lock those of `runs`, all of one lease, that are still ours and still at their present step.

    A run whose row is at another step is let go, whoever moved it: no finished step runs again. Its
    lease runs out, and the sweep brings it back as its row has it.
    """
    held = hold(connection, [run.id for run in runs], runs[0].lease)
    for run in runs:
        holding = held.get(run.id)
        if holding is not None and holding.next_action != run.index:
            _log.error(
                "run is at another step than its row",
                extra={"run_id": str(run.id), "step": run.index, "row": holding.next_action},
            )
            del held[run.id]
    return held
