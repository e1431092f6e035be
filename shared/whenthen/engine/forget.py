"""Deletes what has been kept long enough, a thousand rows at a time."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Final

from sqlalchemy.engine import Connection

from whenthen.engine.context import Context
from whenthen.store import retention

# Days that the side tables keep their rows; runs keep theirs as RETENTION_DAYS says.
AUDIT_DAYS: Final = 365
NOTIFICATION_DAYS: Final = 90
DEAD_EVENT_DAYS: Final = 30
IDEMPOTENCY_KEY_DAYS: Final = 1
RATE_DAYS: Final = 2
REQUEST_COUNT_DAYS: Final = 1
OCCURRENCE_DAYS: Final = 90
# They decide what of the last days was missed; what is caught up is at most a week old.
TICK_DAYS: Final = 8
BATCH: Final = 1_000

_AGED: Final = (
    ("audit_log", AUDIT_DAYS),
    ("notifications", NOTIFICATION_DAYS),
    ("dead_events", DEAD_EVENT_DAYS),
)


def forget(context: Context, has_time: Callable[[], bool]) -> int:
    """Delete rows past their time while there is time for it; return how many.

    A run that has not ended, and a death whose notice is not out, are never deleted.
    """
    now = context.database.transact(retention.database_now)
    deletions = [
        partial(
            retention.delete_runs,
            before=now - timedelta(days=context.settings.retention_days),
            limit=BATCH,
        ),
        *(
            partial(
                retention.delete_aged,
                table=table,
                before=now - timedelta(days=days),
                limit=BATCH,
            )
            for table, days in _AGED
        ),
        partial(
            retention.delete_idempotency_keys,
            before=now - timedelta(days=IDEMPOTENCY_KEY_DAYS),
            limit=BATCH,
        ),
        partial(retention.delete_rates, before=now - timedelta(days=RATE_DAYS), limit=BATCH),
        partial(
            retention.delete_request_counts,
            before=now - timedelta(days=REQUEST_COUNT_DAYS),
            limit=BATCH,
        ),
        partial(
            retention.delete_occurrences,
            before=now - timedelta(days=OCCURRENCE_DAYS),
            limit=BATCH,
        ),
        partial(retention.delete_ticks, before=now - timedelta(days=TICK_DAYS), limit=BATCH),
    ]
    return sum(_all_of(context, deletion, has_time) for deletion in deletions)


def _all_of(
    context: Context, deletion: Callable[[Connection], int], has_time: Callable[[], bool]
) -> int:
    total = 0
    while has_time():
        deleted = context.database.transact(deletion)
        total += deleted
        if deleted < BATCH:
            break
    return total
