"""The work of one transaction of data steps: hold the runs, apply step after step, settle once."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.actions import registry
from whenthen.actions.requests import NotGroupableError, StepAnswer, StepRequest, StepSuccess
from whenthen.domain import limits
from whenthen.domain.errors import ActionTimeoutError
from whenthen.domain.kinds import ActionType
from whenthen.domain.rules.named_secrets import tells_people
from whenthen.domain.rules.run_guards import Go, Standing, Verdict, before_further_step
from whenthen.engine.delay_steps import Wait, take_delays
from whenthen.engine.hold_runs import hold_at_step
from whenthen.engine.prepare_step import prepare_step
from whenthen.engine.reveal_secrets import may_need_secrets
from whenthen.engine.run_progress import Action, RunProgress
from whenthen.engine.step_settlements import step_done, step_failed, step_waits, stopped
from whenthen.settings import Settings
from whenthen.store import clock
from whenthen.store.outbox import OutboxEvent
from whenthen.store.run_holds import Holding
from whenthen.store.run_settlements import Settlement, settle
from whenthen.store.statement_limits import limit_statements

# Steps that are over so soon need no limit but the one that their transaction began with.
_QUICK_S = 0.5


@dataclass(frozen=True, slots=True)
class Try:
    """One step that is about to be taken."""

    progress: RunProgress
    # None: a DELAY that is over, for which there is nothing left to prepare.
    request: StepRequest | None


@dataclass(slots=True)
class Course:
    """What one run did in the transaction; `progress` is ahead of what is committed."""

    progress: RunProgress
    goes_on: bool = True
    # One for each step.
    moves: list[Settlement] = field(default_factory=list)
    succeeded: list[ActionType] = field(default_factory=list)
    failed: list[ActionType] = field(default_factory=list)

    def end(self, move: Settlement) -> None:
        """Let `move` be the run's last one here."""
        self.moves.append(move)
        self.goes_on = False


_Acting = tuple[Course, StepRequest | None]


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of a transaction: the runs' courses, and what follows once it has committed."""

    courses: Sequence[Course]
    settlements: Sequence[Settlement]
    moved: frozenset[UUID]
    events: Sequence[OutboxEvent]


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long the steps of a transaction may take, and whether further ones may begin in it."""

    timeout_s: float
    started_s: float = field(default_factory=monotonic)

    @property
    def are_over(self) -> bool:
        return monotonic() > self.started_s + self.timeout_s

    def keep(self, connection: Connection) -> None:
        """Let no statement from now on outlast what is left; quick steps need no such limit.

        Raises:
            ActionTimeoutError: nothing is left.

        """
        left_s = self.started_s + self.timeout_s - monotonic()
        if left_s <= 0:
            raise ActionTimeoutError("the step took longer than its timeout")
        if left_s < self.timeout_s - _QUICK_S:
            limit_statements(connection, left_s)

    def hold(self, action: Action) -> bool:
        """Return whether `action` may share a transaction that has begun with other steps.

        One that may take less time than they would cut theirs short.
        """
        return registry.is_data_action(action.type) and action.timeout_s >= self.timeout_s

    def let_go_on(self, progress: RunProgress) -> bool:
        """Return whether the run may take its present step without a commit before it.

        Secrets are never fetched while a transaction is open.
        """
        action = progress.action
        return (
            monotonic() < self.started_s + min(limits.GROUP_GOES_ON_S, self.timeout_s / 2)
            and not progress.one_by_one
            and self.hold(action)
            and not (tells_people(action.type) and may_need_secrets(progress))
        )


def take_steps(
    connection: Connection, tries: Sequence[Try], settings: Settings, bounds: Bounds
) -> Taken:
    """Take the steps of `tries`, and those behind them as far as `bounds` let them go on.

    A run that is no longer ours is left out. Nothing of the runs' own progress changes.

    Raises:
        ActionTimeoutError: the time of `bounds` is up.
        Exception: whatever breaks the transaction; then nothing of it has happened.

    """
    held = hold_at_step(connection, [item.progress for item in tries])
    courses: list[Course] = []
    acting: list[_Acting] = []
    for item in tries:
        if item.progress.id not in held:
            continue
        course = Course(item.progress)
        courses.append(course)
        verdict = _verdict(item.progress, held[item.progress.id])
        if isinstance(verdict, Go):
            acting.append((course, item.request))
        else:
            course.end(stopped(item.progress, verdict))
    for left in reversed(range(limits.GROUP_STEPS_MAX)):
        _take(connection, acting, settings, bounds)
        acting = _prepared([c for c, _ in acting], settings, bounds) if left else []
        if not acting:
            break
    settlements = [_whole(course) for course in courses]
    bounds.keep(connection)
    moved, events = settle(connection, settlements)
    if bounds.are_over:
        raise ActionTimeoutError("the step took longer than its timeout")
    return Taken(courses, settlements, moved, events)


def _verdict(progress: RunProgress, holding: Holding) -> Verdict:
    return before_further_step(
        Standing(
            cancelled=holding.cancelled_by is not None,
            automation_status=holding.automation_status,
            forced=progress.run.forced,
            has_finished_step=bool(progress.finished),
        )
    )


def _take(
    connection: Connection, acting: Sequence[_Acting], settings: Settings, bounds: Bounds
) -> None:
    """Take one step of each, those of one type together."""
    by_type: dict[ActionType, list[_Acting]] = {}
    for course, request in acting:
        by_type.setdefault(course.progress.action.type, []).append((course, request))
    for type_, same in by_type.items():
        started_s = monotonic()
        answers = _apply(connection, type_, [request for _, request in same], bounds)
        ms = round((monotonic() - started_s) * 1000)
        for (course, _), answer in zip(same, answers, strict=True):
            _move(course, answer, ms, settings)


def _apply(
    connection: Connection,
    type_: ActionType,
    requests: Sequence[StepRequest | None],
    bounds: Bounds,
) -> Sequence[StepAnswer | Wait]:
    bounds.keep(connection)
    if type_ == ActionType.DELAY:
        return take_delays(requests, clock.now(connection))
    executor = registry.data_executor(type_)
    asked = [request for request in requests if request]
    try:
        return executor(connection, asked)
    except NotGroupableError:
        # Nothing has been written yet: one after the other, then.
        answers: list[StepAnswer] = []
        for request in asked:
            bounds.keep(connection)
            answers += executor(connection, [request])
        return answers


def _move(course: Course, answer: StepAnswer | Wait, ms: int, settings: Settings) -> None:
    progress = course.progress
    match answer:
        case StepSuccess():
            done = step_done(progress, answer, ms, Go())
            course.succeeded.append(progress.action.type)
            course.moves.append(done.settlement)
            course.goes_on = not progress.is_last
            if course.goes_on:
                course.progress = progress.ahead(done.finished)
        case Wait():
            course.end(step_waits(progress, answer))
        case refusal:
            _fail(course, refusal, settings)


def _fail(course: Course, error: Exception, settings: Settings) -> None:
    course.failed.append(course.progress.action.type)
    course.end(step_failed(course.progress, error, max_retries=settings.max_retries))


def _prepared(courses: Sequence[Course], settings: Settings, bounds: Bounds) -> list[_Acting]:
    """Return those of `courses` that may go on here, with their next requests."""
    acting: list[_Acting] = []
    for course in courses:
        if not course.goes_on or not bounds.let_go_on(course.progress):
            continue
        try:
            acting.append((course, prepare_step(course.progress, settings)))
        except Exception as error:  # noqa: BLE001  # whatever it is, it is classified
            _fail(course, error, settings)
    return acting


def _whole(course: Course) -> Settlement:
    """Return all moves of the run as one: the last one, with what the others wrote before it."""
    *earlier, last = course.moves
    if not earlier:
        return last
    return replace(
        last,
        steps=[step for move in course.moves for step in move.steps],
        lines=[line for move in course.moves for line in move.lines],
        events=[event for move in course.moves for event in move.events],
    )
