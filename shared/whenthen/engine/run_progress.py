"""One run in the hands of this worker: what it is pinned to, and how far it has come."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import monotonic
from typing import Any
from uuid import UUID

from whenthen.domain import limits
from whenthen.domain.ids import known_id, parse_id
from whenthen.domain.kinds import ActionType, StepStatus
from whenthen.domain.rules.log_lines import LogLine
from whenthen.domain.rules.loop_guard import child_context
from whenthen.domain.rules.run_outcome import FinishedStep
from whenthen.domain.rules.trigger_event import build_trigger_event
from whenthen.domain.schemas.events import AutomationContext
from whenthen.store.run_claims import ClaimedRun


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a version, as stored; `config` still holds its templates."""

    id: UUID
    index: int
    type: ActionType
    config: Mapping[str, Any]
    retries: int | None
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Definition:
    """What the runs of one version share that one statement has read."""

    actions: Sequence[Action]
    # The configs that were validated again so far, by index of their action; nobody changes them.
    valid_configs: dict[int, dict[str, Any]] = field(default_factory=dict)


# By automation and version.
Definitions = dict[tuple[UUID, int], Definition]


@dataclass
class RunProgress:
    """A claimed run and the steps it has finished; moved on only after a commit."""

    run: ClaimedRun
    lease: UUID
    definition: Definition
    # The claimed try of the present action: its number and what was logged of it already.
    attempt: int
    finished: dict[UUID, FinishedStep]
    start_logged: bool = False
    # The present action is a DELAY that began before this claim, which has woken it.
    has_waited: bool = False
    # Lines that wait for the next settlement, such as warnings of the interpolation.
    pending_lines: list[LogLine] = field(default_factory=list)
    read_at_s: float = field(default_factory=monotonic)
    # Name and value of each secret that this worker has read for the run's steps so far; a secret
    # that was set anew meanwhile has two values.
    secrets: set[tuple[str, str]] = field(default_factory=set, repr=False)
    # Names of secrets that a run which a person has retried may have sent before; None: not read.
    former_secrets: frozenset[str] | None = None
    # Each further data step has a transaction of its own: one that carried more has failed, or a
    # worker has died with the run.
    one_by_one: bool = False
    # Its present step has failed in a hurry, and is to be taken where it holds nobody up.
    needs_time: bool = False
    # The place of the first unfinished action; the number of actions when all are done.
    index: int = field(init=False)

    def __post_init__(self) -> None:
        self.index = self._first_unfinished()

    @property
    def id(self) -> UUID:
        return self.run.id

    @property
    def actions(self) -> Sequence[Action]:
        return self.definition.actions

    @property
    def action(self) -> Action:
        """The action whose turn it is."""
        return self.actions[self.index]

    @property
    def claimed_action_id(self) -> UUID | None:
        """The action whose attempt the claim has counted; None once all are done."""
        return self.action.id if self.index < len(self.actions) else None

    @property
    def is_last(self) -> bool:
        """Whether the present action is the only one left."""
        return self.index >= len(self.actions) - 1

    @property
    def is_first_try(self) -> bool:
        """Whether no step of this generation was tried before the present claim."""
        tried = self.finished or self.attempt > 1 or len(self.run.steps) > 1
        return not (tried or self.has_waited)

    @cached_property
    def event(self) -> dict[str, Any]:
        """The flattened event that started the run."""
        return build_trigger_event(self.run.input)

    @cached_property
    def child_context(self) -> AutomationContext:
        """What events of the run's steps carry: the run's context, one level deeper."""
        run = self.run
        chain = tuple(link for text in run.chain if (link := parse_id(text)) is not None)
        return child_context(run.automation_id, run.id, run.root_run_id, run.depth, chain)

    @property
    def secret_values(self) -> list[str]:
        """The values that nothing written down of this run may show, in a constant order."""
        return sorted(value for _, value in self.secrets) if self.secrets else []

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds since the run was first started, by the database's clock as it was read."""
        return self.run.elapsed_ms + round((monotonic() - self.read_at_s) * 1000)

    def finish_step(self, step: FinishedStep) -> None:
        """Count the present action as done and turn to the next one, whose try is its first."""
        self.finished[self.action.id] = step
        self.index = self._first_unfinished()
        self.attempt = 1
        self.has_waited = False
        self.start_logged = True
        self.pending_lines = []

    def ahead(self, step: FinishedStep) -> "RunProgress":
        """Return the progress that this one becomes once `step` is committed."""
        further = copy(self)
        further.finished = dict(self.finished)
        further.finish_step(step)
        return further

    def _first_unfinished(self) -> int:
        unfinished = (action.index for action in self.actions if action.id not in self.finished)
        return next(unfinished, len(self.actions))


def begin(run: ClaimedRun, lease: UUID, definitions: Definitions | None = None) -> RunProgress:
    """Return the progress of a run that was claimed and read just now.

    Runs that one statement has read share `definitions`: it keeps those that were met so far, so
    that the actions of each are looked at once. Nothing of it outlives the batch.
    """
    by_id = {step.action_id: step for step in run.steps}
    definition = _definition(run, {} if definitions is None else definitions)
    finished = {
        action.id: FinishedStep(action.index, action.type, step.output, step.ms or 0)
        for action in definition.actions
        if (step := by_id.get(action.id)) is not None and step.status == StepStatus.SUCCEEDED
    }
    progress = RunProgress(
        run, lease, definition, attempt=1, finished=finished, one_by_one=run.crash_count > 0
    )
    if progress.index < len(progress.actions):
        present = by_id.get(progress.action.id)
        progress.attempt = present.attempts if present else 1
        progress.has_waited = present is not None and present.status == StepStatus.WAITING
        progress.start_logged = progress.has_waited
    return progress


def resume(progress: RunProgress, run: ClaimedRun) -> RunProgress:
    """Return the progress of `run`, read anew under the same lease after a doubtful commit."""
    begun = begin(run, progress.lease)
    return replace(
        begun,
        start_logged=progress.start_logged or begun.index != progress.index,
        secrets=progress.secrets,
        former_secrets=progress.former_secrets,
        one_by_one=progress.one_by_one,
    )


def _definition(run: ClaimedRun, known: Definitions) -> Definition:
    version = run.automation_id, run.version
    if version not in known:
        actions = [_action(index, stored) for index, stored in enumerate(run.actions)]
        known[version] = Definition(actions)
    return known[version]


def _action(index: int, stored: Mapping[str, Any]) -> Action:
    timeout_ms = stored.get("timeoutMs") or limits.ACTION_TIMEOUT_DEFAULT_MS
    return Action(
        id=known_id(stored["id"]),
        index=index,
        type=ActionType(stored["type"]),
        config=stored["config"],
        retries=stored.get("retries"),
        timeout_s=timeout_ms / 1000,
    )
