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
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, dict):
        pairs = [(clean(key), clean(item)) for key, item in value.items()]
        changed = any(key[1] or item[1] for key, item in pairs)
        return ({key[0]: item[0] for key, item in pairs}, True) if changed else (value, False)
    if isinstance(value, list):
        items = [clean(item) for item in value]
        changed = any(item_changed for _, item_changed in items)
        return ([item for item, _ in items], True) if changed else (value, False)
    return value, False


def _clean_text(text: str) -> tuple[str, bool]:
    # ASCII text, by far the commonest, is known to hold no surrogate without a look at it.
    if "\0" not in text and (text.isascii() or not _UNFIT.search(text)):
        return text, False
    return _UNFIT.sub("\ufffd", text), True
