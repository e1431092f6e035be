"""How long the statements of the transaction under way may take."""

from sqlalchemy.engine import Connection

from whenthen.store.prepared import prepared


def limit_statements(connection: Connection, limit_s: float) -> None:
    """Let no further statement of the transaction take longer than `limit_s`, 1 ms at least.

    A shorter limit than that stays: the server gives up before the client does.
    """
    _LIMIT.run(connection, {"limit_ms": max(1, round(limit_s * 1000))})


_LIMIT = prepared(
    """
    select set_config('statement_timeout', cast(least(cast(:limit_ms as integer), cast(1000 *
        extract(epoch from cast(current_setting('statement_timeout') as interval)) as integer))
        as text), true)
    """
)
