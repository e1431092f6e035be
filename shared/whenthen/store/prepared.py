"""Statements of the hot path, which each connection parses and plans once."""

from sqlalchemy import TextClause, text


def prepared(sql: str) -> TextClause:
    """Return `sql` as a statement that the server keeps parsed and planned on each connection.

    For statements whose best plan does not depend on their values: rows by key, or the rows of one
    JSON parameter. A search with optional filters stays a plain `text`, planned for its values.
    """
    return text(sql).execution_options(prepared=True)
