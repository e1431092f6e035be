r"""What text must not contain: NUL, which Postgres refuses, and lone surrogates, which UTF-8 does.

Cleaning works on decoded values, never on JSON text: there `\u0000` may be an escaped backslash.
"""

import re
from typing import Any, Final

_UNFIT: Final = re.compile("[\0\ud800-\udfff]")


def clean(value: Any) -> tuple[Any, bool]:
    """Return the JSON `value` with U+FFFD for unfit characters, and whether there were any.

    Keys are cleaned too; of keys that thereby become equal the last wins. A value without unfit
    characters is returned as it is, not copied.
    """
    return (value, False) if _is_fit(value) else (_cleaned(value), True)


def _is_fit(value: Any) -> bool:
    """Return whether there is nothing to clean, without the pairs that cleaning builds."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            if _is_unfit(item):
                return False
        elif isinstance(item, dict):
            left += item
            left += item.values()
        elif isinstance(item, list):
            left += item
    return True


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return _UNFIT.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    return value


def _is_unfit(text: str) -> bool:
    # ASCII text, by far the commonest, is known to hold no surrogate without a look at it.
    return "\0" in text or (not text.isascii() and _UNFIT.search(text) is not None)
