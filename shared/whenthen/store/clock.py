"""The database's clock, by which everything that is due is judged."""

from datetime import UTC, datetime

from sqlalchemy import text
from sqlalchemy.engine import Connection


def now(connection: Connection) -> datetime:
    """Return the present instant, in UTC; two calls of one transaction differ."""
    found: datetime = connection.execute(_NOW).scalar_one()
    return found.astimezone(UTC)


_NOW = text("select whenthen_now()")
