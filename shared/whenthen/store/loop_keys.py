"""The keys that sign the context of chains which go out over HTTP and back in."""

from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.engine import Connection


@dataclass(frozen=True, slots=True)
class LoopKeys:
    """The keys, newest first, and the database's clock in seconds since 1970."""

    keys: tuple[bytes, ...]
    now_s: float


def read(connection: Connection) -> LoopKeys:
    """Return every key: the newest signs, and what any of them has signed is taken."""
    row = connection.execute(_READ).one()
    return LoopKeys(tuple(bytes(key) for key in row.signing_keys), float(row.now_s))


_READ = text(
    """
    select coalesce(array_agg(key order by created_at desc), '{}') as signing_keys,
        cast(extract(epoch from whenthen_now()) as float8) as now_s
    from loop_keys
    """
)
