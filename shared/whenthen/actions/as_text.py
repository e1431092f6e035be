"""A value where text is wanted: a lone template keeps its value's type, which may be no text."""

from typing import Any

from whenthen.domain import json_text


def as_text(value: Any) -> str:
    """Return text as it is, null as empty, anything else as its JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json_text.dumps(value)
