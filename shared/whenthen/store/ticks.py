"""When ticks started: what no tick came for was missed, what a tick left over is only late."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import text
from sqlalchemy.engine import Connection


def record(connection: Connection, name: str, ahead_s: float) -> None:
    """Note that a tick of `name` starts now, `ahead_s` ahead of the database's clock.

    Commit it before the tick's work: one that dies at once has started all the same.
    """
    connection.execute(_RECORD, {"name": name, "ahead_s": ahead_s})


_RECORD = text(
    """
    insert into ticks (name, started_at)
    values (:name, whenthen_now() + interval '1 second' * cast(:ahead_s as float8))
    on conflict do nothing
    """
)


def starts_since(connection: Connection, name: str, since: datetime) -> Sequence[datetime]:
    """Return when ticks of `name` started, from `since` on, in order and in UTC."""
    rows = connection.execute(_SINCE, {"name": name, "since": since}).scalars()
    return [started.astimezone(UTC) for started in rows]


_SINCE = text(
    """
    select started_at from ticks
    where name = :name and started_at >= cast(:since as timestamptz)
    order by started_at
    """
)
