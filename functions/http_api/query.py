"""Filters in the query of a list."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from whenthen.domain.errors import InvalidError

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
        known = ", ".join(words)
        raise InvalidError(
            "VALIDATION_FAILED",
            "the query is not valid",
            [{"path": name, "message": f"must be one of {known}", "type": "enum"}],
        )
    return words(text)
