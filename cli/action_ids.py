"""Which action of a file is which of the automation's: ids carry progress, and files have none."""

from collections.abc import Mapping, Sequence
from typing import Any

from cli.json_text import same

Part = Mapping[str, Any]


def with_ids(
    wanted: Sequence[Part], present: Sequence[Part], ids: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the wanted actions, each with the id of the present one that it goes on from.

    The same action at the same place comes first, then the same one elsewhere, then one of the
    same type at the same place, then one of the same type; the rest are new.
    """
    taken: dict[int, int] = {}
    for fits, same_place in (
        (_is_equal, True),
        (_is_equal, False),
        (_is_kin, True),
        (_is_kin, False),
    ):
        for n, one in enumerate(wanted):
            if n in taken:
                continue
            places = [n] if same_place else range(len(present))
            free = (m for m in places if m < len(present) and m not in taken.values())
            found = next((m for m in free if fits(one, present[m])), None)
            if found is not None:
                taken[n] = found
    return [
        {"id": ids[taken[n]], **one} if n in taken else dict(one) for n, one in enumerate(wanted)
    ]


def _is_equal(one: Part, other: Part) -> bool:
    return same(dict(one), dict(other))


def _is_kin(one: Part, other: Part) -> bool:
    return bool(one["type"] == other["type"])
