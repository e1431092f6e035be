"""The one sweep: every row that should have moved on by itself, and did not, is seen to here."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.aws.run_queue import QueuedRun
from whenthen.domain import limits
from whenthen.domain.rules import log_lines
from whenthen.domain.rules.run_outcome import DeadLetter, after_crash
from whenthen.domain.rules.staleness import Crashed, LookLater, NoticeAgain, SendAgain, look_at
from whenthen.domain.schemas.notices import DeathNotice
from whenthen.engine import finish_run
from whenthen.engine.commit_moves import send_after_commit
from whenthen.engine.context import Context
from whenthen.engine.finish_run import RunError
from whenthen.engine.publish import publish
from whenthen.engine.run_progress import begin
from whenthen.engine.send import send_notices, send_runs
from whenthen.engine.step_settlements import released
from whenthen.store import run_claims, sweeps
from whenthen.store.outbox import OutboxEvent
from whenthen.store.run_claims import ClaimedRun
from whenthen.store.run_settlements import Settlement, settle
from whenthen.store.sweeps import Postponed, WokenRun

_log = logging.getLogger("whenthen.sweep")


@dataclass(slots=True)
class Swept:
    """What one batch of the sweep decided; the sends follow its commit."""

    rows: int = 0
    messages: list[QueuedRun] = field(default_factory=list)
    notices: list[DeathNotice] = field(default_factory=list)
    settlements: list[Settlement] = field(default_factory=list)
    moved: frozenset[UUID] = frozenset()
    events: Sequence[OutboxEvent] = ()


def sweep_runs(context: Context, has_time: Callable[[], bool]) -> int:
    """See to every run whose wake-up has come, in batches while there is time; return how many.

    Two sweeps at once take different rows. A sweep that dies between its commit and its sends
    costs time only: the rows wake again.
    """
    total = 0
    while has_time():
        swept = context.database.transact(_sweep_batch)
        send_runs(context, swept.messages)
        send_notices(context, swept.notices)
        send_after_commit(context, swept.settlements, swept.moved, swept.events)
        context.metrics.count("automations.crashed", len(swept.settlements))
        total += swept.rows
        if swept.rows < limits.SWEEP_BATCH_MAX:
            break
    return total


def relay_outbox(context: Context, has_time: Callable[[], bool]) -> int:
    """Put every event on the stream again whose relay is due; return how many."""
    total = 0
    while has_time():
        events = context.database.transact(
            lambda connection: sweeps.take_unmatched(connection, limits.RELAY_BATCH_MAX)
        )
        publish(context, events)
        total += len(events)
        if len(events) < limits.RELAY_BATCH_MAX:
            break
    context.metrics.count("automations.relayed", total)
    return total


def void_leases(context: Context) -> int:
    """Take every lease for void, since all workers are known to be gone; return how many runs."""
    return context.database.transact(sweeps.void_all)


def _sweep_batch(connection: Connection) -> Swept:
    woken = sweeps.take_woken(connection, limits.SWEEP_BATCH_MAX)
    swept = Swept(rows=len(woken))
    postponed: list[Postponed] = []
    crashed: list[WokenRun] = []
    for row in woken:
        unannounced = range(row.notified_death + 1, row.deaths + 1)
        match look_at(row.status, row.due_in_s, row.lease_left_s, unannounced=bool(unannounced)):
            case SendAgain(delay_s, wake_in_s, stale):
                swept.messages.append(QueuedRun(row.id, row.workspace_id, delay_s))
                line = log_lines.pending_sent_again() if stale else None
                postponed.append(Postponed(row.id, wake_in_s, line))
            case LookLater(wake_in_s):
                postponed.append(Postponed(row.id, wake_in_s))
            case NoticeAgain(wake_in_s):
                swept.notices += [DeathNotice(row.id, death) for death in unannounced]
                postponed.append(Postponed(row.id, wake_in_s))
            case Crashed():
                crashed.append(row)
            case other:
                assert_never(other)
    sweeps.postpone(connection, postponed)
    _reclaim(connection, crashed, swept)
    return swept


def _reclaim(connection: Connection, crashed: Sequence[WokenRun], swept: Swept) -> None:
    """Settle runs whose worker is gone, each under the very lease that ran out."""
    ids = [row.id for row in crashed]
    if not ids:
        return
    leases = {row.id: row.lease_token for row in crashed}
    runs, _ = run_claims.read(connection, ids, frozenset(ids))
    for run in runs:
        lease = leases[run.id]
        if lease is not None:
            swept.settlements.append(_after_crash(run, lease))
    swept.moved, swept.events = settle(connection, swept.settlements)


def _after_crash(run: ClaimedRun, lease: UUID) -> Settlement:
    crashes = run.crash_count + 1
    reclaimed = log_lines.running_reclaimed()
    # One that newer code defined is left for newer code to give up on.
    known = run.definition_schema <= limits.DEFINITION_SCHEMA
    if known and isinstance(after_crash(crashes), DeadLetter):
        progress = begin(run, lease)
        message = f"its worker died {crashes} times in a row"
        in_action = progress.claimed_action_id is not None
        error = RunError("WORKER_CRASHED", message, crashes, in_action=in_action)
        return replace(
            finish_run.dead_lettered(progress, error, [reclaimed], None),
            counts_crash=True,
            counts_retry=True,
            untried_action_id=progress.claimed_action_id,
        )
    back = released(run, lease)
    return replace(back, counts_crash=True, counts_retry=True, lines=[reclaimed])
