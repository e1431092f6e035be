"""Ids: UUIDv7, made from a given time and given random bytes, and read from text."""

import re
from functools import lru_cache
from typing import Final
from uuid import UUID

_TEXT: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def uuid7(unix_ms: int, random: bytes) -> UUID:
    """Return the UUIDv7 of the time `unix_ms` with 74 of the bits of `random`, which is 10 bytes.

    Source: RFC 9562, section 5.7.
    """
    if len(random) != 10:
        raise ValueError("uuid7 takes 10 random bytes")
    bits = int.from_bytes(random)
    version_and_a = 0x7 << 12 | bits >> 68
    variant_and_b = 0b10 << 62 | bits & (1 << 62) - 1
    return UUID(int=(unix_ms & (1 << 48) - 1) << 80 | version_and_a << 64 | variant_and_b)


def parse_id(text: str) -> UUID | None:
    """Return the id that `text` writes in its usual form of 36 characters, else None."""
    return known_id(text) if _TEXT.fullmatch(text) else None


@lru_cache(maxsize=4096)
def known_id(text: str) -> UUID:
    """Return the id that `text`, which is surely one, writes; the same few are read all the time.

    Raises:
        ValueError: it is none.

    """
    return UUID(text)
