"""The engine's own action: a DELAY waits in its run's row and keeps no worker meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from whenthen.actions.requests import StepAnswer, StepRequest, StepSuccess
from whenthen.domain import instants
from whenthen.domain.errors import WhenthenError
from whenthen.domain.rules.classify import classify_error
from whenthen.domain.rules.delay import resume_at


@dataclass(frozen=True, slots=True)
class Wait:
    """The step is WAITING until `resume_at`, which is `wait_s` seconds ahead."""

    resume_at: datetime
    wait_s: float


def take_delays(requests: Sequence[StepRequest | None], now: datetime) -> list[StepAnswer | Wait]:
    """Return what becomes of each DELAY, in order; None is one that has waited and is over.

    A run is claimed only when it is due, so one that has waited is never asked for how long again:
    its templates may say something else by now. A DELAY whose time has passed does not wait.
    """
    return [_over(now) if request is None else _begun(request, now) for request in requests]


def is_put_off(error: BaseException) -> bool:
    """Return whether the end of a DELAY that raised `error` is only to be tried again.

    It does nothing but write its end, so a timeout is the database's and no fault of the action.
    """
    failure = classify_error(error)
    return failure.retryable or failure.code == "ACTION_TIMEOUT"


def _begun(request: StepRequest, now: datetime) -> StepAnswer | Wait:
    try:
        end = resume_at(request.config, now)
    except WhenthenError as refusal:
        return refusal
    wait_s = (end - now).total_seconds()
    return Wait(end, wait_s) if wait_s > 0 else _over(now)


def _over(now: datetime) -> StepSuccess:
    return StepSuccess({"resumedAt": instants.to_text(now)})
