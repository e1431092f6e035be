"""Cursors and limits of lists, as they travel in the query."""

import base64
import binascii
import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar
from uuid import UUID

from whenthen.domain import json_text, limits
from whenthen.domain.errors import BadRequestError, InvalidError
from whenthen.store.paging import Page, PageRequest, Placed, Position

Row = TypeVar("Row", bound=Placed)

# Lambda answers with at most 6 MB, API Gateway with 10: a page of large rows is cut short instead.
# Source: AWS, "Lambda quotas", invocation payload.
_PAGE_MAX_BYTES: Final = 5 * 1024 * 1024

# 8 bytes of digest, 8 of microseconds since 1970, 16 of id.
_DIGEST_BYTES: Final = 8
_CURSOR_BYTES: Final = _DIGEST_BYTES + 8 + 16
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def page_request(query: Mapping[str, str], scope: str) -> PageRequest:
    """Return the page that `query` asks for; `scope` names the list and its filters.

    Raises:
        InvalidError: the limit is no whole number within 1..200.
        BadRequestError: `BAD_CURSOR`, it is not one that this list, so filtered, has given.

    """
    cursor = query.get("cursor")
    return PageRequest(_limit(query), None if cursor is None else _read(cursor, scope))


def page_body(page: Page[Row], scope: str, row_body: Callable[[Row], Any]) -> dict[str, Any]:
    """Return `{"data": […], "nextCursor": "…" | null}`, with at least one row if there is one."""
    data: list[Any] = []
    size_bytes = 0
    for row in page.rows:
        body = row_body(row)
        size_bytes += len(json_text.dumps(body).encode())
        if data and size_bytes > _PAGE_MAX_BYTES:
            break
        data.append(body)
    more = page.more or len(data) < len(page.rows)
    last = page.rows[len(data) - 1] if more else None
    return {
        "data": data,
        "nextCursor": None if last is None else _write(Position(last.created_at, last.id), scope),
    }


def _limit(query: Mapping[str, str]) -> int:
    text = query.get("limit", str(limits.PAGE_DEFAULT))
    # Three digits are enough for every legal limit; int() of a longer text is a way to be slow.
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 3 else 0
    if not 1 <= number <= limits.PAGE_MAX:
        message = f"must be a whole number within 1..{limits.PAGE_MAX}"
        raise InvalidError(
            "VALIDATION_FAILED",
            "the query is not valid",
            [{"path": "limit", "message": message, "type": "limit"}],
        )
    return number


def _write(position: Position, scope: str) -> str:
    microseconds = (position.created_at - _EPOCH) // _MICROSECOND
    place = microseconds.to_bytes(8, signed=True) + position.id.bytes
    return base64.urlsafe_b64encode(_digest(scope, place) + place).rstrip(b"=").decode()


def _read(cursor: str, scope: str) -> Position:
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise _bad_cursor() from error
    digest, place = raw[:_DIGEST_BYTES], raw[_DIGEST_BYTES:]
    if len(raw) != _CURSOR_BYTES or digest != _digest(scope, place):
        raise _bad_cursor()
    try:
        created_at = _EPOCH + int.from_bytes(place[:8], signed=True) * _MICROSECOND
    except OverflowError as error:
        raise _bad_cursor() from error
    return Position(created_at, UUID(bytes=place[8:]))


def _digest(scope: str, place: bytes) -> bytes:
    """Bind a place to its list; no secret, since a forged place shows nothing hidden."""
    return hashlib.sha256(scope.encode() + b"\0" + place).digest()[:_DIGEST_BYTES]


def _bad_cursor() -> BadRequestError:
    return BadRequestError("BAD_CURSOR", "this cursor is not one of this list")
