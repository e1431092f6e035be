"""Notices: what the engine tells the notifier. The row and its log hold the text."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from whenthen.domain import json_text, limits
from whenthen.domain.ids import parse_id

# What the column holds that a death is counted in.
_DEATH_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class DeathNotice:
    """The `death`-th death of a run, counted from 1: a run retried by hand may die again."""

    run_id: UUID
    death: int


def encode(notice: DeathNotice) -> str:
    """Return the notice's body: `{"v":1,"kind":"death","runId":"019…","death":1}`."""
    return json_text.dumps(
        {
            "v": limits.MESSAGE_VERSION,
            "kind": "death",
            "runId": str(notice.run_id),
            "death": notice.death,
        }
    )


def decode(body: str) -> DeathNotice | None:
    """Return the notice that `body` holds, None if it holds none."""
    try:
        message = json_text.loads(body)
    except json_text.JsonError:
        return None
    match message:
        case {"kind": "death", "runId": str() as run_id, "death": int() as death}:
            found = parse_id(run_id)
            # A bool is an int to Python, and none to the database.
            counts = death is not True and 1 <= death <= _DEATH_MAX
            return DeathNotice(found, death) if found and counts else None
        case _:
            return None
