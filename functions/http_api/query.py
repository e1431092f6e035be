"""Filters in the query of a list."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import TypeVar
from uuid import UUID

from whenthen.domain.errors import InvalidError
from whenthen.domain.ids import parse_id
from whenthen.domain.instants import parse_instant
from whenthen.domain.rules.text_hygiene import clean

Word = TypeVar("Word", bound=StrEnum)


def word_in(query: Mapping[str, str], name: str, words: type[Word]) -> Word | None:
    """Return the query's value under `name` as one of `words`; None when it is absent.

    Raises:
        InvalidError: it is none of them.

    """
    text = query.get(name)
    if text is None:
        return None
    if text not in set(words):
        raise refused(name, f"must be one of {', '.join(words)}", "enum")
    return words(text)


def text_in(query: Mapping[str, str], name: str) -> str | None:
    """Return the query's value under `name`, fit to be looked for; None when it is absent."""
    cleaned, _ = clean(query.get(name))
    return None if cleaned is None else str(cleaned)


def id_in(query: Mapping[str, str], name: str) -> UUID | None:
    """Return the query's value under `name` as an id; None when it is absent.

    Raises:
        InvalidError: it is no id.

    """
    text = query.get(name)
    if text is None:
        return None
    found = parse_id(text)
    if found is None:
        raise refused(name, "must be an id (a UUID)", "id")
    return found


def instant_in(query: Mapping[str, str], name: str) -> datetime | None:
    """Return the query's value under `name` as an instant; None when it is absent.

    Raises:
        InvalidError: it is no ISO 8601 instant.

    """
    text = query.get(name)
    if text is None:
        return None
    found = parse_instant(text)
    if found is None:
        raise refused(name, "must be an ISO 8601 instant", "instant")
    return found


def window_in(query: Mapping[str, str]) -> tuple[datetime | None, datetime | None]:
    """Return the query's `from` and `to`, either of which may be absent.

    Raises:
        InvalidError: one is no instant, or `from` is after `to`.

    """
    since, until = instant_in(query, "from"), instant_in(query, "to")
    if since is not None and until is not None and since > until:
        raise refused("from", "must not be after to", "window")
    return since, until


def refused(name: str, message: str, kind: str) -> InvalidError:
    """Return the refusal of the query's value under `name`."""
    details = [{"path": name, "message": message, "type": kind}]
    return InvalidError("VALIDATION_FAILED", "the query is not valid", details)
