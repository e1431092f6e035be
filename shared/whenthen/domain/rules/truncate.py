"""How a JSON value that is too large becomes small enough: still JSON, and as like as may be.

Bytes are dealt out like water. Every member of an object or list gets its own size as long as that
is below a common level, the larger ones are cut down to the level; the level is the highest that
fits. Where even a small share for each is too much, an object first loses its largest members, a
list its last ones. Texts end with "…" where they were cut, between two characters.

Source: docs/architecture.md, "Limits".
"""

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate
from typing import Any, Final, NamedTuple

from whenthen.domain.json_text import dumps
from whenthen.domain.rules.json_size import JsonSizes, text_bytes

# What the engine reads in an event or shows of an output.
ENGINE_FIELDS: Final = frozenset(
    {
        "automationId",
        "changedProperties",
        "databaseId",
        "pageId",
        "parentId",
        "recordId",
        "recordVersion",
        "runId",
        "status",
        "workspaceId",
    }
)

# A member is dropped rather than cut to less than its least share: a quarter of the room there is,
# within these bounds. Of a list the first items whole are worth more than scraps of all.
_LEAST_BYTES: Final = 8
_MEMBER_LEAST_BYTES: Final = 32
_ITEM_LEAST_BYTES: Final = 256
_MARK: Final = "…"
_DROPPED: Final = object()
_FLAG: Final = frozenset({"truncated"})


class _Member(NamedTuple):
    key: Hashable
    # What it takes beside its value: its key, colon and comma.
    head_bytes: int
    value_bytes: int

    @property
    def bytes(self) -> int:
        return self.head_bytes + self.value_bytes

    def least_bytes(self, share: int) -> int:
        return self.head_bytes + min(self.value_bytes, share)


def truncate_json(
    value: Any, cap_bytes: int, keep: AbstractSet[str] = ENGINE_FIELDS
) -> tuple[Any, bool]:
    """Return a value of at most `cap_bytes` (≥ 64) bytes of JSON, and whether it was truncated.

    The same value as long as it fits. An object gets `"truncated": true`, for which there is room
    within the cap. Its members named in `keep` stay whole, unless they are above the cap by
    themselves; `previous` goes before `properties` is touched. Redact secrets first: half of one
    is not recognised any more.
    """
    if len(dumps(value).encode()) <= cap_bytes:
        return value, False
    if isinstance(value, dict):
        return _Shrinking().event({**value, "truncated": True}, cap_bytes, keep), True
    shrunk = _Shrinking().value(value, cap_bytes)
    return (None if shrunk is _DROPPED else shrunk), True


class _Shrinking:
    def __init__(self) -> None:
        self._sizes = JsonSizes()

    def event(
        self, event: dict[str, Any], cap_bytes: int, keep: AbstractSet[str]
    ) -> dict[str, Any]:
        """Return the top-level object within the cap; the flag is in it already."""
        members = self._members(event)
        fixed = [member for member in members if member.key in keep | _FLAG]
        if sum(member.bytes for member in fixed) >= cap_bytes:
            fixed = [member for member in members if member.key in _FLAG]
        shares = {member.key: member.value_bytes for member in fixed}
        free = [member for member in members if member.key not in shares]
        room = cap_bytes - 1 - sum(member.bytes for member in fixed)
        return self._object(event, shares | _shares_of_event(free, room))

    def value(self, value: Any, budget: int) -> Any:
        """Return `value` within `budget` bytes, or _DROPPED if nothing of it can be kept."""
        if self._sizes.of(value) <= budget:
            return value
        match value:
            case str():
                return _cut(value, budget)
            case list():
                members = _first_that_fit(self._items(value), budget - 1)
                shares = _shares(members, budget - 1)
                items = (self.value(value[index], share) for index, share in shares.items())
                return [item for item in items if item is not _DROPPED]
            case dict():
                members = _smallest_that_fit(self._members(value), budget - 1)
                return self._object(value, _shares(members, budget - 1))
        return _DROPPED

    def _object(self, value: dict[str, Any], shares: Mapping[Any, int]) -> dict[str, Any]:
        items = ((key, self.value(value[key], shares[key])) for key in value if key in shares)
        return {key: item for key, item in items if item is not _DROPPED}

    # One byte of a member is its comma. The first has none, but there are two brackets: so a
    # budget less one byte is the room of the members.
    def _members(self, value: dict[str, Any]) -> list[_Member]:
        return [
            _Member(key, text_bytes(key) + 2, self._sizes.of(item)) for key, item in value.items()
        ]

    def _items(self, value: list[Any]) -> list[_Member]:
        return [_Member(index, 1, self._sizes.of(item)) for index, item in enumerate(value)]


def _shares_of_event(members: Sequence[_Member], room: int) -> dict[Any, int]:
    shares = _shares(_smallest_that_fit(members, room), room)
    by_key = {member.key: member for member in members}
    properties, previous = by_key.get("properties"), by_key.get("previous")
    if properties is None or previous is None or _is_whole(properties, shares):
        return shares
    others = [member for member in members if member is not previous]
    shares = _shares(_smallest_that_fit(others, room), room)
    left = room - sum(by_key[key].head_bytes + share for key, share in shares.items())
    if _is_whole(properties, shares) and left >= previous.head_bytes + _MEMBER_LEAST_BYTES:
        shares["previous"] = left - previous.head_bytes
    return shares


def _is_whole(member: _Member, shares: Mapping[Any, int]) -> bool:
    return shares.get(member.key, 0) >= member.value_bytes


def _smallest_that_fit(members: Iterable[_Member], room: int) -> list[_Member]:
    share = _least_share(room, _MEMBER_LEAST_BYTES)
    fitting = []
    for member in sorted(members, key=lambda member: member.bytes):
        if member.least_bytes(share) <= room:
            room -= member.least_bytes(share)
            fitting.append(member)
    return fitting


def _first_that_fit(items: Sequence[_Member], room: int) -> list[_Member]:
    share = _least_share(room, _ITEM_LEAST_BYTES)
    ends = accumulate(item.least_bytes(share) for item in items)
    return [item for item, end in zip(items, ends, strict=True) if end <= room]


def _least_share(room: int, at_most: int) -> int:
    return min(max(room // 4, _LEAST_BYTES), at_most)


def _shares(members: Sequence[_Member], room: int) -> dict[Any, int]:
    """Return key → bytes of its value: its own size, or the level if that is lower."""
    level = _level([m.value_bytes for m in members], room - sum(m.head_bytes for m in members))
    return {member.key: min(member.value_bytes, level) for member in members}


def _level(sizes: Iterable[int], room: int) -> int:
    ascending = sorted(sizes)
    for index, size in enumerate(ascending):
        share = room // (len(ascending) - index)
        if size > share:
            return share
        room -= size
    return max(ascending, default=0)


def _cut(text: str, budget: int) -> str:
    room = budget - text_bytes(_MARK)
    lengths = range(min(len(text), max(room, 0)) + 1)
    fitting = bisect_right(lengths, room, key=lambda length: text_bytes(text[:length]) - 2)
    return text[: fitting - 1] + _MARK
