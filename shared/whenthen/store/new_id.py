"""Ids for new rows: UUIDv7, so that rows of one time lie together in their index."""

import os
import time
from uuid import UUID

from whenthen.domain.ids import uuid7


def new_id() -> UUID:
    """Return a fresh UUIDv7 from this machine's clock; nothing relies on its order."""
    return uuid7(time.time_ns() // 1_000_000, os.urandom(10))
