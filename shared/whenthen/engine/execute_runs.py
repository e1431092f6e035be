"""Executes the runs of one batch of messages: claim, guard, and take steps while time remains."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from uuid import UUID, uuid4

from sqlalchemy.exc import SQLAlchemyError

from whenthen.actions import registry
from whenthen.aws.run_queue import QueuedRun
from whenthen.domain import limits
from whenthen.domain.kinds import PropertyType, StepStatus
from whenthen.domain.rules.condition import Evaluation, evaluate
from whenthen.domain.rules.run_guards import Go, Standing, Start, Verdict, before_claimed_run
from whenthen.domain.rules.wake_up import pending_wake
from whenthen.domain.schemas.events import read_context
from whenthen.engine import finish_run
from whenthen.engine.avoid_overlap import overlaps
from whenthen.engine.commit_moves import commit
from whenthen.engine.context import Context
from whenthen.engine.data_steps import take_data_steps
from whenthen.engine.outside_steps import Stragglers, take_outside_step
from whenthen.engine.prepare_step import record_properties
from whenthen.engine.remaining_time import with_time
from whenthen.engine.run_progress import Definitions, RunProgress, begin
from whenthen.engine.send import send_runs
from whenthen.engine.step_settlements import released, stopped
from whenthen.store import run_claims
from whenthen.store.run_claims import ClaimedRun, WaitingRun
from whenthen.store.run_settlements import Settlement

_log = logging.getLogger("whenthen.execute")

# A run that newer code defined is left alone this long: a deployment is under way.
_NEWER_WAIT_S = 60
# A run that could not find out whether it overlaps asks again after so long.
_UNSURE_WAIT_S = 5


@dataclass(frozen=True, slots=True)
class Execution:
    """What became of a batch: whether a thread is still at work after its deadline."""

    has_stragglers: bool


def execute_runs(
    context: Context, run_ids: Sequence[UUID], remaining_s: Callable[[], float]
) -> Execution:
    """Execute those of `run_ids` that can be claimed, as far as `remaining_s` allows.

    A second delivery of the same id claims nothing and changes nothing. A run that is not due yet
    gets one message with its remaining delay. Of the runs that a worker has died with, one is
    executed, alone, after the rest.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: the database is out of reach and nothing was claimed.

    """
    lease = uuid4()
    claimed, waiting = _claim(context, run_ids, lease, remaining_s() + limits.LEASE_MARGIN_S)
    _send_waiting(context, waiting)
    stragglers = Stragglers()
    suspects = [run for run in claimed if run.crash_count]
    # Given back before any of them starts, so that no innocent one's lease dies beside the guilty.
    commit(context, [released(run, lease) for run in suspects[1:]])
    _execute_together(
        context, [run for run in claimed if not run.crash_count], lease, remaining_s, stragglers
    )
    _execute_together(context, suspects[:1], lease, remaining_s, stragglers)
    return Execution(stragglers.alive())


def _execute_together(
    context: Context,
    claimed: Sequence[ClaimedRun],
    lease: UUID,
    remaining_s: Callable[[], float],
    stragglers: Stragglers,
) -> None:
    if not claimed:
        return
    runs = _admit(context, claimed, lease)
    group, outside = _split(runs)
    with ThreadPoolExecutor(max_workers=max(1, len(runs))) as pool:
        alone = partial(_take_alone, context, remaining_s=remaining_s, stragglers=stragglers)
        pending = [pool.submit(alone, progress) for progress in outside]
        while group := with_time(context, group, remaining_s):
            group, outside = _split(_guarded(partial(take_data_steps, context), group))
            pending += [pool.submit(alone, progress) for progress in outside]
        for future in pending:
            future.result()


def _split(runs: Sequence[RunProgress]) -> tuple[list[RunProgress], list[RunProgress]]:
    """Return the runs whose present steps may be taken together, and the others, each asked once.

    A run that is handed to a thread moves on at once: asked again, it would be found on both sides
    and its next step taken twice.
    """
    group: list[RunProgress] = []
    outside: list[RunProgress] = []
    for progress in runs:
        together = _is_data(progress) and not progress.needs_time
        (group if together else outside).append(progress)
    return group, outside


def _claim(
    context: Context, run_ids: Sequence[UUID], lease: UUID, lease_s: float
) -> tuple[list[ClaimedRun], list[WaitingRun]]:
    if not run_ids:
        return [], []
    return context.database.transact(
        lambda connection: run_claims.claim(connection, run_ids, lease, lease_s),
        together=run_claims.CLAIM_STATEMENTS,
    )


def _send_waiting(context: Context, waiting: Sequence[WaitingRun]) -> None:
    messages = []
    for run in waiting:
        delay_s = pending_wake(run.due_in_s).send_delay_s
        if delay_s is not None:
            messages.append(QueuedRun(run.id, run.workspace_id, delay_s))
    send_runs(context, messages)


def _admit(context: Context, claimed: Sequence[ClaimedRun], lease: UUID) -> list[RunProgress]:
    """Return the runs that may act; those that may not are ended or given back, all at once."""
    runs: list[RunProgress] = []
    settlements: list[Settlement] = []
    definitions: Definitions = {}
    for run in claimed:
        if run.definition_schema > limits.DEFINITION_SCHEMA:
            settlements.append(released(run, lease, due_in_s=_NEWER_WAIT_S))
            continue
        progress = begin(run, lease, definitions)
        try:
            verdict = _verdict(context, progress)
        except SQLAlchemyError:
            _log.warning("run given back", exc_info=True, extra={"run_id": str(run.id)})
            settlements.append(released(run, lease, due_in_s=_UNSURE_WAIT_S))
            continue
        if not isinstance(verdict, Go):
            settlements.append(stopped(progress, verdict))
        elif progress.index == len(progress.actions):
            steps = list(progress.finished.values())
            settlements.append(finish_run.succeeded(progress, steps, None, []))
        else:
            runs.append(progress)
    commit(context, settlements)
    return runs


def _verdict(context: Context, progress: RunProgress) -> Verdict:
    run = progress.run
    standing = Standing(
        cancelled=run.cancelled_by is not None,
        automation_status=run.automation_status,
        forced=run.forced,
        has_finished_step=any(step.status == StepStatus.SUCCEEDED for step in run.steps),
    )
    if not progress.is_first_try:
        verdict = before_claimed_run(standing, None)
        if isinstance(verdict, Go):
            # Half done, it goes on beside another one; if there is none, the next ones see it.
            overlaps(context, run)
        return verdict
    start = Start(
        context=read_context(run.input.get("automationContext")),
        automation_id=run.automation_id,
        max_depth=context.settings.max_depth,
        action_count=len(run.actions),
        overlaps=partial(overlaps, context, run),
        evaluate=partial(_evaluate, progress),
    )
    return before_claimed_run(standing, start)


def _evaluate(progress: RunProgress) -> Evaluation:
    types = {item["name"]: PropertyType(item["type"]) for item in progress.run.database_schema}
    return evaluate(progress.run.condition, progress.event, record_properties(progress), types)


def _is_data(progress: RunProgress) -> bool:
    return registry.is_data_action(progress.action.type)


def _take_alone(
    context: Context,
    progress: RunProgress,
    *,
    remaining_s: Callable[[], float],
    stragglers: Stragglers,
) -> None:
    runs = [progress]
    while runs := with_time(context, runs, remaining_s):
        if _is_data(runs[0]):
            runs = _guarded(partial(take_data_steps, context), runs)
        else:
            runs = _guarded(lambda one: take_outside_step(context, one[0], stragglers), runs)


def _guarded(
    take: Callable[[list[RunProgress]], list[RunProgress]], runs: list[RunProgress]
) -> list[RunProgress]:
    """Return what `take` returns; if even the record of a failure fails, the runs are let go.

    Their leases run out and the sweep brings them back: a database failure outside a step is not
    the run's failure.
    """
    try:
        return take(runs)
    except Exception:  # noqa: BLE001  # the outermost edge of a run
        _log.exception("runs left to the sweep", extra={"run_ids": [str(r.id) for r in runs]})
        return []
