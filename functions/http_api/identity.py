"""The credential of a request: a bearer token, as it came in its header."""

import re
from collections.abc import Mapping
from typing import Final

from whenthen.domain.errors import UnauthenticatedError

_BEARER: Final = re.compile(r"(?i:bearer) +([!-~]{1,4096})")


def bearer_token(headers: Mapping[str, str]) -> str:
    """Return the bearer token among `headers`, whose names are in lower case.

    Raises:
        UnauthenticatedError: there is none, or the header reads otherwise.

    """
    found = _BEARER.fullmatch(headers.get("authorization", "").strip())
    if found is None:
        raise UnauthenticatedError("UNAUTHENTICATED", "send Authorization: Bearer with a token")
    return found[1]
