"""Texts of a config that may hold `{{ … }}`: what is literal must fit now, the rest at run time."""

import re
from collections.abc import Callable
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from whenthen.domain.ids import parse_id
from whenthen.domain.instants import parse_instant
from whenthen.domain.rules.mail_address import ADDRESS_MAX_CHARS, mailbox

FROM_TRIGGER: Final = "from_trigger"

_URL: Final = re.compile(r"https?://[^\s/?#]\S*", re.IGNORECASE)


def has_template(text: str) -> bool:
    """Return whether interpolation may change `text`."""
    return "{{" in text


def _literal(
    kind: Literal["id", "url", "email", "instant"], fits: Callable[[str], object], meaning: str
) -> AfterValidator:
    def check(text: str) -> str:
        if has_template(text) or fits(text):
            return text
        raise PydanticCustomError(
            kind, "must be {meaning}, or hold a template", {"meaning": meaning}
        )

    return AfterValidator(check)


def _is_record(text: str) -> bool:
    return text == FROM_TRIGGER or parse_id(text) is not None


# Without NUL, as every text that has passed the entrance; with any other character.
Text = Annotated[str, Field(min_length=1)]
# What stands in a header must not be able to begin another one.
Line = Annotated[str, Field(min_length=1, pattern=r"^[^\r\n]+$")]
IdText = Annotated[str, _literal("id", parse_id, "an id (a UUID)")]
RecordText = Annotated[str, _literal("id", _is_record, f"an id (a UUID) or {FROM_TRIGGER}")]
UrlText = Annotated[
    str, Field(max_length=2_048), _literal("url", _URL.fullmatch, "an http or https URL")
]
AddressText = Annotated[
    str,
    Field(max_length=ADDRESS_MAX_CHARS),
    _literal("email", mailbox, "an e-mail address"),
]
InstantText = Annotated[str, _literal("instant", parse_instant, "an ISO 8601 instant")]
