"""The exact words of a run's log."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from whenthen.domain.kinds import ActionType, SkipReason
from whenthen.domain.rules import log_lines
from whenthen.domain.rules.log_lines import LogLine

ACTION = UUID("01970000-0000-7000-8000-00000000000a")
USER = UUID("01970000-0000-7000-8000-00000000000b")
UPDATE = ActionType.UPDATE_RECORD


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            log_lines.run_created("evt:w:1"),
            LogLine("info", "run created", {"eventId": "evt:w:1"}),
        ),
        (
            log_lines.run_started(1),
            LogLine("info", "run started", {"attempt": 1}),
        ),
        (
            log_lines.action_started(0, 2, UPDATE, action_id=ACTION, attempt=1),
            LogLine(
                "info",
                "action 1/2 UPDATE_RECORD started",
                {"actionId": str(ACTION), "attempt": 1},
            ),
        ),
        (
            log_lines.action_waiting(
                0,
                2,
                ActionType.DELAY,
                action_id=ACTION,
                resume_at=datetime(2026, 1, 1, 9, tzinfo=UTC),
            ),
            LogLine(
                "info",
                "action 1/2 DELAY waiting",
                {"actionId": str(ACTION), "resumeAt": "2026-01-01T09:00:00.000Z"},
            ),
        ),
        (
            log_lines.action_done(1, 2, UPDATE, action_id=ACTION, ms=12),
            LogLine("info", "action 2/2 UPDATE_RECORD done", {"actionId": str(ACTION), "ms": 12}),
        ),
        (
            log_lines.action_failed(
                49,
                50,
                ActionType.SEND_WEBHOOK,
                action_id=ACTION,
                attempt=3,
                code="WEBHOOK_HTTP_RETRIABLE",
                message="answered 503",
                retryable=True,
            ),
            LogLine(
                "error",
                "action 50/50 SEND_WEBHOOK failed",
                {
                    "actionId": str(ACTION),
                    "attempt": 3,
                    "code": "WEBHOOK_HTTP_RETRIABLE",
                    "message": "answered 503",
                    "retryable": True,
                },
            ),
        ),
        (
            log_lines.retry_scheduled(3, 4),
            LogLine("info", "retry scheduled", {"attempt": 3, "delayS": 4, "dueAt": None}),
        ),
        (log_lines.run_continued(), LogLine("info", "run continued", {})),
        (
            log_lines.run_skipped(SkipReason.SELF_TRIGGER),
            LogLine("info", "run skipped: self_trigger", {}),
        ),
        (
            log_lines.run_skipped(SkipReason.CONDITIONS_NOT_MET, {"op": "eq", "result": False}),
            LogLine(
                "info",
                "run skipped: conditions_not_met",
                {"explain": {"op": "eq", "result": False}},
            ),
        ),
        (
            log_lines.run_failed("ACTION_TIMEOUT"),
            LogLine("error", "run failed: ACTION_TIMEOUT", {}),
        ),
        (
            log_lines.run_completed(19),
            LogLine("info", "run completed", {"totalMs": 19}),
        ),
        (
            log_lines.run_dead_lettered(2, code="NET_EPIPE", message="broken pipe", attempts=8),
            LogLine(
                "error",
                "run dead-lettered",
                {"death": 2, "code": "NET_EPIPE", "message": "broken pipe", "attempts": 8},
            ),
        ),
        (
            log_lines.running_reclaimed(),
            LogLine("warn", "watchdog reclaimed stale RUNNING run", {}),
        ),
        (
            log_lines.pending_sent_again(),
            LogLine("warn", "watchdog re-enqueued stale PENDING run", {}),
        ),
        (
            log_lines.run_retried(USER, "failed", "original"),
            LogLine(
                "info",
                "run retried manually",
                {"userId": str(USER), "from": "failed", "version": "original"},
            ),
        ),
        (
            log_lines.run_retried(USER, 1, "latest"),
            LogLine(
                "info",
                "run retried manually",
                {"userId": str(USER), "from": 1, "version": "latest"},
            ),
        ),
        (
            log_lines.run_cancelled(USER),
            LogLine("info", "run cancelled", {"userId": str(USER)}),
        ),
        (
            log_lines.template_value_missing("actions[0].config.title"),
            LogLine("warn", "template value missing", {"path": "actions[0].config.title"}),
        ),
    ],
    ids=lambda value: value.message.replace(" ", "-") if isinstance(value, LogLine) else None,
)
def test_a_line_has_its_level_its_words_and_its_data(line: LogLine, expected: LogLine) -> None:
    assert line == expected
