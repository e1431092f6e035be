"""What is old enough to go: ids are UUIDv7, so the oldest rows lie together in the index."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.domain.ids import uuid7

# The tables whose rows go by their own age alone.
_BY_ID = ("audit_log", "notifications", "dead_events")


def delete_runs(connection: Connection, before: datetime, limit: int) -> int:
    """Delete up to `limit` runs that ended before `before`, with their steps and logs.

    Never one that has not ended, nor a death whose notice is not out. Returns how many.
    """
    values = {"before": before, "below": _first_id(before), "limit": limit}
    return int(connection.execute(_DELETE_RUNS, values).scalar_one())


# A run ends after it was made, so only ids from before the boundary need a look.
_DELETE_RUNS = text(
    """
    with old as (
        select id from automation_runs
        where id < cast(:below as uuid) and finished_at < cast(:before as timestamptz)
            and status in ('SUCCEEDED', 'FAILED', 'DEAD_LETTER') and notified_death >= deaths
        order by id limit cast(:limit as integer)
        for update skip locked
    ),
    steps as (delete from automation_run_steps s using old where s.run_id = old.id),
    logs as (delete from automation_logs l using old where l.run_id = old.id),
    gone as (delete from automation_runs r using old where r.id = old.id returning 1)
    select count(*) from gone
    """
)


def delete_aged(connection: Connection, table: str, before: datetime, limit: int) -> int:
    """Delete up to `limit` rows of `table` made before `before`; return how many."""
    if table not in _BY_ID:
        raise ValueError("no table that goes by age")
    statement = text(
        f"""
        delete from {table} where id in (
            select id from {table} where id < cast(:below as uuid)
            order by id limit cast(:limit as integer))
        """  # noqa: S608  # a table of the list above
    )
    deleted = connection.execute(statement, {"below": _first_id(before), "limit": limit})
    return int(deleted.rowcount)


def delete_idempotency_keys(connection: Connection, before: datetime, limit: int) -> int:
    """Delete up to `limit` idempotency keys made before `before`; return how many."""
    deleted = connection.execute(_DELETE_KEYS, {"before": before, "limit": limit})
    return int(deleted.rowcount)


_DELETE_KEYS = text(
    """
    delete from idempotency_keys where ctid in (
        select ctid from idempotency_keys where created_at < cast(:before as timestamptz)
        order by created_at limit cast(:limit as integer))
    """
)


def delete_rates(connection: Connection, before: datetime, limit: int) -> int:
    """Delete up to `limit` counters of minutes and days before `before`; return how many."""
    deleted = connection.execute(_DELETE_RATES, {"before": before, "limit": limit})
    return int(deleted.rowcount)


_DELETE_RATES = text(
    """
    delete from automation_rate where ctid in (
        select ctid from automation_rate where bucket < cast(:before as timestamptz)
        limit cast(:limit as integer))
    """
)


def delete_request_counts(connection: Connection, before: datetime, limit: int) -> int:
    """Delete up to `limit` counts of credentials unused since `before`; return how many."""
    deleted = connection.execute(_DELETE_COUNTS, {"before": before, "limit": limit})
    return int(deleted.rowcount)


_DELETE_COUNTS = text(
    """
    delete from api_request_counts where ctid in (
        select ctid from api_request_counts where minute < cast(:before as timestamptz)
        limit cast(:limit as integer))
    """
)


def delete_occurrences(connection: Connection, before: datetime, limit: int) -> int:
    """Delete up to `limit` occurrences of schedules from before `before`; return how many."""
    deleted = connection.execute(_DELETE_OCCURRENCES, {"before": before, "limit": limit})
    return int(deleted.rowcount)


_DELETE_OCCURRENCES = text(
    """
    delete from schedule_occurrences where ctid in (
        select ctid from schedule_occurrences where scheduled_for < cast(:before as timestamptz)
        order by scheduled_for limit cast(:limit as integer))
    """
)


def delete_ticks(connection: Connection, before: datetime, limit: int) -> int:
    """Delete up to `limit` starts of ticks before `before`; return how many."""
    deleted = connection.execute(_DELETE_TICKS, {"before": before, "limit": limit})
    return int(deleted.rowcount)


_DELETE_TICKS = text(
    """
    delete from ticks where ctid in (
        select ctid from ticks where started_at < cast(:before as timestamptz)
        limit cast(:limit as integer))
    """
)


def database_now(connection: Connection) -> datetime:
    """Return the database's clock, by which everything here is old or not."""
    now: datetime = connection.execute(text("select whenthen_now()")).scalar_one()
    return now


def _first_id(before: datetime) -> UUID:
    return uuid7(max(0, int(before.timestamp() * 1000)), bytes(10))
