"""Runs as people read them."""

from typing import TYPE_CHECKING
from uuid import UUID

from whenthen.domain.errors import NotFoundError
from whenthen.domain.kinds import RunStatus
from whenthen.store import run_reads
from whenthen.store.paging import Page, PageRequest
from whenthen.store.run_reads import RunDetail, RunSummary

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def runs(
    connection: "Connection", automation_id: UUID, status: RunStatus | None, request: PageRequest
) -> Page[RunSummary]:
    """Return a page of the runs of an automation that the caller may see."""
    return run_reads.page(connection, automation_id, status, request)


def run(connection: "Connection", automation_id: UUID, run_id: UUID) -> RunDetail:
    """Return a run of an automation that the caller may see.

    Raises:
        NotFoundError: the automation has no such run, whoever else may have it.

    """
    found = run_reads.detail(connection, automation_id, run_id)
    if found is None:
        raise NotFoundError
    return found
