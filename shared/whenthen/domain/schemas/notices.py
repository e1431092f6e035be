"""Notices: what the engine tells the notifier. The row and its log hold the text."""

from dataclasses import dataclass
from uuid import UUID

from whenthen.domain import json_text, limits
from whenthen.domain.ids import parse_id


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
            return DeathNotice(found, death) if found and death >= 1 else None
        case _:
            return None
