"""Whether a deployment is still empty, and keeps being so until the transaction ends."""

from sqlalchemy import text
from sqlalchemy.engine import Connection


def hold_and_count(connection: Connection) -> int:
    """Keep everybody from making a workspace, and return how many there are."""
    connection.execute(_HOLD)
    return int(connection.execute(_COUNT).scalar_one())


# Conflicts with itself and with every insert, but with no reader.
_HOLD = text("lock table workspaces in share row exclusive mode")
_COUNT = text("select count(*) from workspaces")
