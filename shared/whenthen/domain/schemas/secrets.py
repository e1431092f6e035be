"""Secrets of a workspace: how one is named, and the body that sets it."""

import re
from typing import Annotated, Final

from pydantic import Field

from whenthen.domain import limits
from whenthen.domain.schemas.base import Model

_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


def is_secret_name(text: str) -> bool:
    """Return whether `text` can name a secret, so that `{{secrets.NAME}}` can be written."""
    return _NAME.fullmatch(text) is not None


class SecretBody(Model):
    """Shorter values cannot be told from ordinary words when they are redacted."""

    value: Annotated[
        str,
        Field(min_length=limits.SECRET_MIN_CHARS, max_length=limits.SECRET_MAX_CHARS, repr=False),
    ]
