"""Inserts the runs that matched events start, spread out where automations feed each other."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from sqlalchemy.engine import Connection

from whenthen.aws.run_queue import QueuedRun
from whenthen.domain import limits
from whenthen.domain.kinds import Role, SkipReason, TriggerType
from whenthen.domain.rules.matching import Candidate
from whenthen.domain.rules.rate import Placement, RatePlan, is_counted
from whenthen.domain.rules.wake_up import pending_wake
from whenthen.engine import finish_run
from whenthen.engine.run_progress import begin
from whenthen.engine.step_settlements import released
from whenthen.settings import Settings
from whenthen.store import audit, notifications, rates, run_cancels, run_claims, run_inserts
from whenthen.store.audit import AuditEntry
from whenthen.store.new_id import new_id
from whenthen.store.notifications import NewNotification
from whenthen.store.outbox import OutboxEvent
from whenthen.store.rates import Counted
from whenthen.store.run_claims import ClaimedRun
from whenthen.store.run_inserts import NewRun, RunEvent
from whenthen.store.run_settlements import Settlement, settle

_TOLD = frozenset({Role.OWNER, Role.ADMIN})
_AT_ONCE = Placement(0, over_limit=False)


@dataclass(frozen=True, slots=True)
class Start:
    """An event and the automations that it starts, each once."""

    event: RunEvent
    candidates: Sequence[Candidate]


@dataclass(frozen=True, slots=True)
class Started:
    """What one transaction started; messages and events are sent after its commit."""

    matched: Mapping[TriggerType, int] = field(default_factory=dict)
    deduped: int = 0
    messages: Sequence[QueuedRun] = ()
    # Of runs that ended as rate_limited.
    events: Sequence[OutboxEvent] = ()
    # Automations that the day's limit has paused.
    tripped: int = 0


def start_runs(connection: Connection, starts: Sequence[Start], settings: Settings) -> Started:
    """Insert a run for each automation of each start; one that exists already is left out.

    Runs of depth ≥ 1 or by webhook are delayed above the minute's rate, never dropped. Above the
    day's limit the automation is paused, its admins are told, and the excess ends as the skip
    `rate_limited`.
    """
    planned = [
        (start.event, n, candidate)
        for n, start in enumerate(starts)
        for candidate in start.candidates
    ]
    counted = _count(connection, planned)
    plan = RatePlan(
        counted.before,
        runs_per_minute=settings.runs_per_minute,
        runs_per_day=settings.chained_runs_per_day,
    )
    runs, excess = _placed(planned, plan, set(counted.new))
    inserted = _insert(connection, [start.event for start in starts], runs)
    types = {run.id: candidate.type for run, (_, _, candidate) in zip(runs, planned, strict=True)}
    stopped = _stop(connection, [run for run in runs if run.id in excess & inserted.keys()])
    return Started(
        matched=Counter(types[run_id] for run_id in inserted),
        deduped=len(runs) - len(inserted),
        messages=_messages([run for run in runs if run.id in inserted.keys() - excess], inserted),
        events=stopped.events,
        tripped=stopped.tripped,
    )


def _placed(
    planned: Sequence[tuple[RunEvent, int, Candidate]],
    plan: RatePlan,
    unplaced: set[tuple[UUID, str]],
) -> tuple[list[NewRun], set[UUID]]:
    """Return the runs, in the order of `planned`, and those that are above the day's limit.

    `unplaced` holds the counted ones that are new: a run that exists, or that the batch holds
    twice, takes no place from the others.
    """
    runs: list[NewRun] = []
    excess: set[UUID] = set()
    for event, n, candidate in planned:
        place, key = _AT_ONCE, (candidate.automation_id, event.event_id)
        if key in unplaced:
            unplaced.remove(key)
            place = plan.place(candidate.automation_id)
        due_in_s = place.due_in_s
        run = NewRun(new_id(), n, candidate.automation_id, candidate.version, due_in_s=due_in_s)
        runs.append(run)
        if place.over_limit:
            excess.add(run.id)
    return runs, excess


def _insert(
    connection: Connection, events: Sequence[RunEvent], runs: Sequence[NewRun]
) -> dict[UUID, run_inserts.InsertedRun]:
    size = limits.MATCH_CHUNK_MAX_RUNS
    chunks = [runs[start : start + size] for start in range(0, len(runs), size)]
    return {
        run.id: run
        for chunk in chunks
        for run in run_inserts.insert_runs(connection, events, chunk)
    }


def _count(connection: Connection, planned: Sequence[tuple[RunEvent, int, Candidate]]) -> Counted:
    return rates.count_new(
        connection,
        [
            (candidate.automation_id, event.event_id)
            for event, _, candidate in planned
            if is_counted(event.depth, by_webhook=event.by_webhook)
        ],
    )


def _messages(
    runs: Sequence[NewRun], inserted: Mapping[UUID, run_inserts.InsertedRun]
) -> list[QueuedRun]:
    messages = []
    for run in runs:
        delay_s = pending_wake(run.due_in_s).send_delay_s
        if delay_s is not None:
            messages.append(QueuedRun(run.id, inserted[run.id].workspace_id, delay_s))
    return messages


@dataclass(frozen=True, slots=True)
class _Stopped:
    events: Sequence[OutboxEvent] = ()
    tripped: int = 0


def _stop(connection: Connection, runs: Sequence[NewRun]) -> _Stopped:
    """End `runs`, which are above the day's limit, and pause their automations."""
    if not runs:
        return _Stopped()
    ids, lease = [run.id for run in runs], uuid4()
    held = run_cancels.seize(connection, ids, lease)
    claimed, _ = run_claims.read(connection, ids, held)
    settlements = [_ended(run, lease) for run in claimed]
    _, events = settle(connection, settlements)
    paused = rates.pause(connection, sorted({run.automation_id for run in runs}))
    for automation in paused:
        _tell(connection, automation)
    return _Stopped(events, len(paused))


def _ended(run: ClaimedRun, lease: UUID) -> Settlement:
    if run.definition_schema > limits.DEFINITION_SCHEMA:
        # Newer code defined it, and may tell what it is.
        return released(run, lease)
    return finish_run.skipped(begin(run, lease), SkipReason.RATE_LIMITED, None)


def _tell(connection: Connection, automation: rates.Paused) -> None:
    members = notifications.members(connection, [automation.workspace_id])
    title = f'Automation "{automation.name}" was paused'
    body = "It started more runs by itself today than are allowed: does it feed itself?"
    notifications.insert(
        connection,
        [
            NewNotification(new_id(), automation.workspace_id, user_id, title, body, None)
            for user_id, role in members[automation.workspace_id].items()
            if role in _TOLD
        ],
    )
    entry = AuditEntry(
        workspace_id=automation.workspace_id,
        action="automation.breaker_tripped",
        actor_type="SYSTEM",
        actor_id=f"automation:{automation.id}",
        resource_type="automation",
        resource_id=str(automation.id),
    )
    audit.add(connection, [entry])
