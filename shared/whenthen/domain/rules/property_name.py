"""When two names mean the same property: é may be written as one character or as two.

Schemas keep names in NFC. What comes from elsewhere (an event of a host, a condition, a body) may
hold either form.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from unicodedata import normalize


def canonical_name(name: str) -> str:
    """Return `name` in NFC; case stays, and so do spaces."""
    return name if name.isascii() else normalize("NFC", name)


def value_named(values: Mapping[str, Any], name: str) -> Any:
    """Return what `values` (name → value) has under `name` in any form, else None."""
    if name in values or name.isascii():
        return values.get(name)
    wanted = canonical_name(name)
    return next((value for key, value in values.items() if canonical_name(key) == wanted), None)


def share_a_name(some: Iterable[str], others: Iterable[str]) -> bool:
    """Return whether a name of `some` means one of `others`."""
    return not set(map(canonical_name, some)).isdisjoint(map(canonical_name, others))
