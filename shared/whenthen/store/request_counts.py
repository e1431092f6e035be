"""How many requests each credential has made in the present minute."""

from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.engine import Connection


@dataclass(frozen=True, slots=True)
class Count:
    """Requests so far, this one included, and the seconds until the count begins anew."""

    n: int
    left_s: float


def count(connection: Connection, credential: bytes, *, verified: bool) -> Count | None:
    """Count one more request of the credential (its digest) and return where it stands.

    None, and no row, for a digest that belongs to no token, unless it is `verified` otherwise:
    strangers can make up as many as they like.
    """
    values = {"credential": credential, "verified": verified}
    row = connection.execute(_COUNT, values).one_or_none()
    return None if row is None else Count(row.n, float(row.left_s))


_COUNT = text(
    """
    insert into api_request_counts as c (credential, minute, n)
    select cast(:credential as bytea), date_trunc('minute', whenthen_now()), 1
    where cast(:verified as boolean)
        or exists (select 1 from api_tokens where token_hash = cast(:credential as bytea))
    on conflict (credential) do update
    set n = case when c.minute = excluded.minute then c.n + 1 else 1 end,
        minute = excluded.minute
    returning n, 60 - extract(second from whenthen_now()) as left_s
    """
)
