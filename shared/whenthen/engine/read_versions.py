"""The versions of an automation as people read them."""

from typing import TYPE_CHECKING
from uuid import UUID

from whenthen.domain.errors import NotFoundError
from whenthen.store import version_reads
from whenthen.store.paging import Page, PageRequest
from whenthen.store.version_reads import VersionRow, VersionSnapshot

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def versions(
    connection: "Connection", automation_id: UUID, request: PageRequest
) -> Page[VersionRow]:
    """Return a page of the versions of an automation that the caller may see."""
    return version_reads.page(connection, automation_id, request)


def version(connection: "Connection", automation_id: UUID, number: int) -> VersionSnapshot:
    """Return one version of an automation that the caller may see.

    Raises:
        NotFoundError: it has no version of that number.

    """
    found = version_reads.snapshot(connection, automation_id, number)
    if found is None:
        raise NotFoundError
    return found
