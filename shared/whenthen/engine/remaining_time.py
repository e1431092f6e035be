"""Gives back the runs whose next step no longer fits into what is left of the invocation."""

from collections.abc import Callable, Sequence

from whenthen.engine.commit_moves import commit
from whenthen.engine.context import Context
from whenthen.engine.run_progress import RunProgress
from whenthen.engine.step_settlements import continued

# Time that recording a step may need after its action has used its whole timeout.
_RECORDING_S = 10


def with_time(
    context: Context, runs: Sequence[RunProgress], remaining_s: Callable[[], float]
) -> list[RunProgress]:
    """Return those of `runs` whose next step fits; the others are given back to be continued."""
    left_s = remaining_s() - _RECORDING_S
    fitting: list[RunProgress] = []
    others: list[RunProgress] = []
    for progress in runs:
        (fitting if progress.action.timeout_s <= left_s else others).append(progress)
    commit(context, [continued(progress) for progress in others])
    return fitting
