"""Pages of a list that is ordered by `(created_at, id)`, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID


class Placed(Protocol):
    """A row that has its place in a list."""

    @property
    def created_at(self) -> datetime: ...
    @property
    def id(self) -> UUID: ...


Row = TypeVar("Row", bound=Placed)


@dataclass(frozen=True, slots=True)
class Position:
    """The last row that a reader has seen; the instant keeps its microseconds."""

    created_at: datetime
    id: UUID


@dataclass(frozen=True, slots=True)
class PageRequest:
    """How many rows to show (1..200), and after which place; None begins at the newest."""

    limit: int
    after: Position | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Up to `limit` rows, and whether there are more after them."""

    rows: Sequence[Row]
    more: bool


def rest_sql(request: PageRequest, alias: str) -> str:
    """Return the SQL that ends a list's statement, from its last condition to its limit.

    The comparison is of the pair as one row value: rows that share an instant (all that one
    transaction made) are neither skipped nor shown twice.
    """
    key = f"({alias}.created_at, {alias}.id)"
    after = "" if request.after is None else f"and {key} < (:after_at, cast(:after_id as uuid))"
    order = f"order by {alias}.created_at desc, {alias}.id desc"
    return f"{after} {order} limit cast(:rows as integer)"


def parameters(request: PageRequest) -> dict[str, Any]:
    """Return the parameters of `rest_sql`: one row more than shown tells whether a page follows."""
    values: dict[str, Any] = {"rows": request.limit + 1}
    if request.after is not None:
        values |= {"after_at": request.after.created_at, "after_id": request.after.id}
    return values


def cut(rows: Sequence[Row], request: PageRequest) -> Page[Row]:
    """Return the page that `rows`, read with `rest_sql`, make."""
    return Page(rows[: request.limit], more=len(rows) > request.limit)
