"""Instants as text: ISO 8601 in, one canonical form out."""

import re
from datetime import UTC, datetime
from typing import Final

# The extended form. What Python reads beyond it (20260101, week dates) is more likely a number.
_TEXT: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
    r"(?P<offset>[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)


def to_text(instant: datetime) -> str:
    """Return the aware `instant` as `2026-01-01T00:00:00.000Z`, cut (not rounded) to milliseconds.

    Raises:
        ValueError: `instant` has no offset.

    """
    if instant.tzinfo is None:
        raise ValueError("an instant has an offset")
    utc = instant.astimezone(UTC).replace(tzinfo=None)
    return utc.isoformat(timespec="milliseconds") + "Z"


def parse_instant(text: str) -> datetime | None:
    """Return the instant, in UTC, that the ISO 8601 `text` names, else None.

    A date is its midnight; without an offset UTC is meant. Digits beyond microseconds are cut.
    """
    if not _TEXT.fullmatch(text):
        return None
    try:
        instant = datetime.fromisoformat(text.upper())
        return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    except (ValueError, OverflowError):  # no such day or hour; beyond the years 1..9999
        return None


def has_offset(text: str) -> bool:
    """Return whether `text` is an ISO 8601 instant that says which offset it is in."""
    match = _TEXT.fullmatch(text)
    return match is not None and match["offset"] is not None
