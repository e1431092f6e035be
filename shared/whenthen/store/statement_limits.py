"""How long the statements of the transaction under way may take."""

from sqlalchemy.engine import Connection

from whenthen.store.prepared import prepared


def limit_statements(connection: Connection, limit_s: float) -> None:
    """Let no further statement of the transaction take longer than `limit_s`, 1 ms at least."""
    connection.execute(_LIMIT, {"limit_ms": str(max(1, round(limit_s * 1000)))})


_LIMIT = prepared("select set_config('statement_timeout', :limit_ms, true)")
