"""What becomes of a run, and the exact JSON of its end."""

from typing import Any
from uuid import UUID

import pytest

from whenthen.domain.kinds import ActionType, RunStatus, SkipReason
from whenthen.domain.rules.classify import Classification
from whenthen.domain.rules.run_outcome import (
    DeadLetter,
    Fail,
    FinishedStep,
    Reclaim,
    Retry,
    after_crash,
    after_failure,
    announces,
    error_body,
    executed_event_payload,
    skip_output,
    success_output,
)

TRANSIENT = Classification(retryable=True, code="WEBHOOK_HTTP_RETRIABLE")
FATAL = Classification(retryable=False, code="WEBHOOK_HTTP_ERROR")
GIVEN_UP = DeadLetter("WEBHOOK_HTTP_RETRIABLE")
WORKSPACE = UUID("01970000-0000-7000-8000-00000000000a")
AUTOMATION = UUID("01970000-0000-7000-8000-00000000000b")
RUN = UUID("01970000-0000-7000-8000-00000000000c")


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [
        (1, Retry(1)),
        (2, Retry(2)),
        (3, Retry(4)),
        (4, Retry(8)),
        (5, Retry(16)),
        (6, Retry(32)),
        (7, Retry(64)),
        (8, GIVEN_UP),
        (9, GIVEN_UP),
    ],
)
def test_case_032_the_failing_eighth_try_dead_letters(
    attempts: int, expected: Retry | DeadLetter
) -> None:
    assert after_failure(TRANSIENT, attempts, None, 8) == expected


@pytest.mark.parametrize(
    ("action_retries", "max_retries", "tries"),
    [(None, 1, 1), (None, 3, 3), (None, 8, 8), (0, 8, 1), (1, 8, 2), (3, 1, 4), (20, 8, 21)],
)
def test_a_step_is_tried_as_often_as_its_action_or_the_deployment_says(
    action_retries: int | None, max_retries: int, tries: int
) -> None:
    outcomes = [
        after_failure(TRANSIENT, attempt, action_retries, max_retries)
        for attempt in range(1, tries + 1)
    ]
    assert all(isinstance(outcome, Retry) for outcome in outcomes[:-1])
    assert outcomes[-1] == GIVEN_UP


@pytest.mark.parametrize("attempts", [1, 7, 8])
def test_a_fatal_error_ends_the_run_on_any_try(attempts: int) -> None:
    assert after_failure(FATAL, attempts, 20, 8) == Fail("WEBHOOK_HTTP_ERROR")


@pytest.mark.parametrize(
    ("attempts", "retry_after_s", "delay_s"),
    [(1, 0.5, 1), (1, 30.0, 30), (7, 30.0, 64), (1, 3600.0, 900)],
)
def test_case_030_a_retry_waits_as_long_as_the_target_asks_up_to_its_cap(
    attempts: int, retry_after_s: float, delay_s: int
) -> None:
    failure = Classification(retryable=True, code="X", retry_after_s=retry_after_s)
    assert after_failure(failure, attempts, None, 8) == Retry(delay_s)


def test_case_029_a_huge_budget_waits_at_the_cap() -> None:
    assert after_failure(TRANSIENT, 1999, None, 2000) == Retry(600)


@pytest.mark.parametrize(
    ("crash_count", "expected"),
    [
        (1, Reclaim()),
        (7, Reclaim()),
        (8, DeadLetter("WORKER_CRASHED")),
        (9, DeadLetter("WORKER_CRASHED")),
    ],
)
def test_case_055_the_eighth_crash_in_a_row_dead_letters(
    crash_count: int, expected: Reclaim | DeadLetter
) -> None:
    assert after_crash(crash_count) == expected


def test_the_output_lists_the_steps_by_index_and_sums_their_time() -> None:
    steps = [
        FinishedStep(1, ActionType.CREATE_NOTIFICATION, {"notificationIds": ["n"]}, 7),
        FinishedStep(0, ActionType.UPDATE_RECORD, {"recordId": "r"}, 12),
    ]
    assert success_output(steps) == {
        "actions": [
            {
                "index": 0,
                "type": "UPDATE_RECORD",
                "output": {"recordId": "r"},
                "ms": 12,
                "status": "SUCCEEDED",
            },
            {
                "index": 1,
                "type": "CREATE_NOTIFICATION",
                "output": {"notificationIds": ["n"]},
                "ms": 7,
                "status": "SUCCEEDED",
            },
        ],
        "totalMs": 19,
    }


def test_a_run_of_no_actions_succeeds_with_an_empty_list() -> None:
    assert success_output([]) == {"actions": [], "totalMs": 0}


@pytest.mark.parametrize("reason", SkipReason)
def test_a_skip_says_its_reason_and_nothing_else(reason: SkipReason) -> None:
    assert skip_output(reason) == {"skipped": reason.value}


def test_an_error_names_the_action_in_which_it_arose() -> None:
    body = error_body("WEBHOOK_HTTP_RETRIABLE", "answered 503", 1, ActionType.SEND_WEBHOOK, 8)
    assert body == {
        "code": "WEBHOOK_HTTP_RETRIABLE",
        "message": "answered 503",
        "actionIndex": 1,
        "actionType": "SEND_WEBHOOK",
        "attempts": 8,
    }


def test_an_error_outside_an_action_has_both_action_fields_null() -> None:
    body = error_body("CONDITION_INVALID", "unknown operator", None, None, 0)
    assert (body["actionIndex"], body["actionType"]) == (None, None)


@pytest.mark.parametrize(("depth", "expected"), [(0, True), (1, False), (4, False)])
def test_only_the_root_of_a_chain_announces_its_end(depth: int, *, expected: bool) -> None:
    assert announces(depth) is expected


def executed(error: dict[str, Any] | None) -> dict[str, Any]:
    return executed_event_payload(
        workspace_id=WORKSPACE,
        automation_id=AUTOMATION,
        run_id=RUN,
        status=RunStatus.SUCCEEDED if error is None else RunStatus.DEAD_LETTER,
        trigger_type="record.created",
        duration_ms=41,
        error=error,
    )


def test_the_announcement_of_a_success_has_no_error_key() -> None:
    assert executed(None) == {
        "workspaceId": str(WORKSPACE),
        "automationId": str(AUTOMATION),
        "runId": str(RUN),
        "status": "SUCCEEDED",
        "triggerType": "record.created",
        "durationMs": 41,
    }


def test_the_announcement_of_a_death_carries_the_error() -> None:
    error = error_body("WORKER_CRASHED", "the worker died 8 times", None, None, 8)
    assert executed(error)["status"] == "DEAD_LETTER"
    assert executed(error)["error"] == error
