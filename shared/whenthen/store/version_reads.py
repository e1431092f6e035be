"""The versions of an automation as people read them: their list, or one snapshot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection

from whenthen.store.paging import Page, PageRequest, cut

# A place in a list holds an id of any size, but a version is an integer of Postgres.
_VERSION_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One line of the list."""

    version: int
    created_at: datetime
    created_by: UUID | None

    @property
    def id(self) -> UUID:
        """The version as the id by which a page remembers its place."""
        return UUID(int=self.version)


@dataclass(frozen=True, slots=True)
class VersionSnapshot:
    """One version whole; `triggers` and `actions` as `VersionBody` has them."""

    version: int
    created_at: datetime
    created_by: UUID | None
    name: str
    database_id: UUID | None
    triggers: Sequence[Mapping[str, Any]]
    condition: Mapping[str, Any] | None
    actions: Sequence[Mapping[str, Any]]


def page(connection: Connection, automation_id: UUID, request: PageRequest) -> Page[VersionRow]:
    """Return a page of an automation's versions, newest first.

    Ordered by version, not by instant: a clock that was set back must not turn the history over.
    """
    values: dict[str, Any] = {"automation_id": automation_id, "rows": request.limit + 1}
    after = ""
    if request.after is not None:
        after = "and version < cast(:after as integer)"
        values["after"] = min(request.after.id.int, _VERSION_MAX)
    sql = f"{_VERSIONS} {after} order by version desc limit cast(:rows as integer)"
    rows = [VersionRow(**row) for row in connection.execute(text(sql), values).mappings()]
    return cut(rows, request)


_VERSIONS = """
    select version, created_at, created_by
    from automation_versions where automation_id = :automation_id
"""


def snapshot(connection: Connection, automation_id: UUID, version: int) -> VersionSnapshot | None:
    """Return one version of an automation; None when there is none of that number."""
    values = {"automation_id": automation_id, "version": version}
    row = connection.execute(_SNAPSHOT, values).mappings().one_or_none()
    return VersionSnapshot(**row) if row else None


_SNAPSHOT = text(
    """
    select version, created_at, created_by, name, database_id, triggers, condition, actions
    from automation_versions where automation_id = :automation_id and version = :version
    """
)


def webhooks_until(
    connection: Connection, automation_id: UUID, version: int
) -> list[Mapping[str, Any]]:
    """Return the configs of all SEND_WEBHOOK actions that name secrets, of versions up to one."""
    values = {"automation_id": automation_id, "version": version}
    return [row.config for row in connection.execute(_WEBHOOKS, values)]


# A text that names a secret holds the word, whatever stands around it.
_WEBHOOKS = text(
    """
    select distinct action -> 'config' as config
    from automation_versions v cross join lateral jsonb_array_elements(v.actions) action
    where v.automation_id = :automation_id and v.version <= cast(:version as integer)
        and action ->> 'type' = 'SEND_WEBHOOK'
        and cast(action -> 'config' as text) like '%secrets%'
    """
)
