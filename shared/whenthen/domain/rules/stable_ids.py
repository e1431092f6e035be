"""Which ids a rewritten definition keeps: progress and schedules are keyed by them."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from whenthen.domain.errors import InvalidError


def trigger_ids(
    types: Sequence[str], before: Iterable[tuple[str, UUID]], fresh: Callable[[], UUID]
) -> list[UUID]:
    """Return one id per trigger of `types`: the n-th of a type keeps the id of the n-th before.

    `before` lists `(type, id)` of the previous version in its order; `fresh` makes the others.
    """
    kept: dict[str, deque[UUID]] = defaultdict(deque)
    for kind, known in before:
        kept[kind].append(known)
    return [kept[kind].popleft() if kept[kind] else fresh() for kind in types]


def action_ids(
    given: Sequence[UUID | None], before: Iterable[UUID], fresh: Callable[[], UUID]
) -> list[UUID]:
    """Return one id per action: the one it carries, or a fresh one.

    Raises:
        InvalidError: an id is not one of the previous version's, or stands twice.

    """
    known = set(before)
    ids: list[UUID] = []
    for position, action_id in enumerate(given):
        if action_id is None:
            ids.append(fresh())
            continue
        if action_id not in known:
            raise _refused(position, "unknown or repeated id")
        known.discard(action_id)
        ids.append(action_id)
    return ids


def _refused(position: int, message: str) -> InvalidError:
    path = f"actions[{position}].id"
    return InvalidError(
        "VALIDATION_FAILED",
        "an action's id must be one that it had",
        [{"path": path, "message": message, "type": "action_id"}],
    )
