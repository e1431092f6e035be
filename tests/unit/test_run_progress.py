"""How far a claimed run has come, and what it shares with the runs that were read with it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from whenthen.domain.errors import FatalError
from whenthen.domain.kinds import ActionType, AutomationStatus, StepStatus
from whenthen.domain.rules.run_outcome import FinishedStep
from whenthen.engine.prepare_step import prepare_step
from whenthen.engine.run_progress import Definitions, RunProgress, begin, resume
from whenthen.settings import load_settings
from whenthen.store.run_claims import ClaimedRun, StepRow

SETTINGS = load_settings({"DATABASE_URL": "postgresql://localhost/none"})
LEASE = UUID(int=1)
ACTION_IDS = [UUID(int=n) for n in (11, 12, 13)]
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def notify(action_id: UUID, **config: Any) -> dict[str, Any]:
    config = config or {"title": "told"}
    return {"id": str(action_id), "type": "CREATE_NOTIFICATION", "config": config}


def a_run(*statuses: StepStatus, actions: Sequence[Mapping[str, Any]] | None = None) -> ClaimedRun:
    """A run of three actions, or of `actions`, whose first steps have these statuses."""
    return ClaimedRun(
        id=UUID(int=2),
        automation_id=UUID(int=3),
        version=1,
        workspace_id=UUID(int=4),
        workspace_name="World",
        event_id="evt:1",
        trigger_type="record.created",
        record_id=None,
        input={"type": "record.created", "payload": {}},
        depth=0,
        root_run_id=UUID(int=2),
        parent_run_id=None,
        chain=[],
        retry_count=0,
        crash_count=0,
        generation=1,
        next_action=0,
        forced=False,
        cancelled_by=None,
        actor_id=None,
        deaths=0,
        created_at=NOW,
        started_at=NOW,
        elapsed_ms=0,
        definition_schema=1,
        automation_name="Triage",
        actions=[notify(one) for one in ACTION_IDS] if actions is None else actions,
        condition=None,
        automation_status=AutomationStatus.ACTIVE,
        steps=[
            StepRow(action_id, status, 1, {}, 5)
            for action_id, status in zip(ACTION_IDS, statuses, strict=False)
        ],
        record_database_id=None,
        record_properties=None,
        database_schema=[],
    )


def done(progress: RunProgress) -> FinishedStep:
    return FinishedStep(progress.index, ActionType.CREATE_NOTIFICATION, {}, 5)


SUCCEEDED, STARTED, FAILED = StepStatus.SUCCEEDED, StepStatus.STARTED, StepStatus.FAILED


@pytest.mark.parametrize(
    ("statuses", "index"),
    [
        ([], 0),
        ([STARTED], 0),
        ([FAILED, SUCCEEDED], 0),
        ([SUCCEEDED], 1),
        ([SUCCEEDED, STARTED, SUCCEEDED], 1),
        ([SUCCEEDED, SUCCEEDED], 2),
        ([SUCCEEDED, SUCCEEDED, SUCCEEDED], 3),
    ],
)
def test_the_present_action_is_the_first_unfinished_one(
    statuses: list[StepStatus], index: int
) -> None:
    progress = begin(a_run(*statuses), LEASE)
    assert progress.index == index
    assert progress.claimed_action_id == (ACTION_IDS[index] if index < 3 else None)
    assert progress.is_last is (index >= 2)


def test_a_finished_step_turns_to_the_next_that_is_not_finished() -> None:
    progress = begin(a_run(STARTED, SUCCEEDED), LEASE)
    progress.finish_step(done(progress))
    assert progress.index == 2
    progress.finish_step(done(progress))
    assert progress.index == 3


def test_progress_ahead_leaves_the_present_one_where_it_is() -> None:
    progress = begin(a_run(SUCCEEDED), LEASE)
    further = progress.ahead(done(progress))
    assert (progress.index, further.index) == (1, 2)
    assert list(progress.finished) == ACTION_IDS[:1]
    assert list(further.finished) == ACTION_IDS[:2]


def test_a_run_that_is_read_again_is_where_its_rows_are() -> None:
    before = begin(a_run(STARTED), LEASE)
    assert resume(before, a_run(SUCCEEDED, STARTED)).index == 1


def test_runs_of_one_version_that_were_read_together_share_its_definition() -> None:
    definitions: Definitions = {}
    first, second = (begin(run, LEASE, definitions) for run in (a_run(), a_run(SUCCEEDED)))
    assert first.definition is second.definition
    assert (first.index, second.index) == (0, 1)


@pytest.mark.parametrize(
    "other", [{"version": 2}, {"version": 0}, {"automation_id": UUID(int=30)}], ids=str
)
def test_runs_of_other_versions_have_their_own_actions(other: dict[str, Any]) -> None:
    definitions: Definitions = {}
    stranger = replace(a_run(actions=[notify(ACTION_IDS[0], title="other")]), **other)
    progress, another = begin(a_run(), LEASE, definitions), begin(stranger, LEASE, definitions)
    assert prepare_step(progress, SETTINGS).config == {"title": "told"}
    assert prepare_step(another, SETTINGS).config == {"title": "other"}


def test_runs_that_were_read_apart_share_nothing() -> None:
    changed = a_run(actions=[notify(ACTION_IDS[0], title="changed")])
    assert prepare_step(begin(a_run(), LEASE), SETTINGS).config == {"title": "told"}
    assert prepare_step(begin(changed, LEASE), SETTINGS).config == {"title": "changed"}


def test_each_action_of_a_shared_definition_has_its_own_config() -> None:
    definitions: Definitions = {}
    run = a_run(actions=[notify(ACTION_IDS[0], title="one"), notify(ACTION_IDS[1], title="two")])
    first, second = begin(run, LEASE, definitions), begin(run, LEASE, definitions)
    assert prepare_step(first, SETTINGS).config == {"title": "one"}
    further = second.ahead(done(second))
    assert prepare_step(further, SETTINGS).config == {"title": "two"}
    assert prepare_step(second, SETTINGS).config == {"title": "one"}


def test_values_of_one_run_do_not_show_in_another_that_shares_the_definition() -> None:
    definitions: Definitions = {}
    titled = {"title": "{{trigger.payload.Name}}", "body": "{{trigger.payload.Name}} {{record.A}}"}
    runs = [
        replace(a_run(actions=[notify(ACTION_IDS[0], **titled)]), input={"payload": payload})
        for payload in ({"Name": "Ada"}, {"Name": "Bob"}, {})
    ]
    found = [prepare_step(begin(run, LEASE, definitions), SETTINGS).config for run in runs]
    assert found == [
        {"title": "Ada", "body": "Ada "},
        {"title": "Bob", "body": "Bob "},
        {"title": None, "body": " "},
    ]


def test_a_config_that_is_not_valid_any_longer_is_refused_each_time() -> None:
    progress = begin(a_run(actions=[notify(ACTION_IDS[0], text="no title")]), LEASE)
    for _ in range(2):
        with pytest.raises(FatalError) as caught:
            prepare_step(progress, SETTINGS)
        assert caught.value.code == "ACTION_CONFIG_INVALID"


def test_a_request_has_the_defaults_of_its_config_written_out() -> None:
    url = {"url": "https://hooks.example.com/"}
    stored = {"id": str(ACTION_IDS[0]), "type": "SEND_WEBHOOK", "config": url}
    progress = begin(a_run(actions=[stored]), LEASE)
    assert prepare_step(progress, SETTINGS).config == {**url, "method": "POST", "headers": {}}
    assert progress.action.config == url
