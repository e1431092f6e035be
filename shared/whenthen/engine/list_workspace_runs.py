"""The runs of a whole workspace, as people search them."""

from typing import TYPE_CHECKING

from whenthen.store import workspace_runs
from whenthen.store.paging import Page, PageRequest
from whenthen.store.workspace_runs import RunsWanted, WorkspaceRun

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def runs_of(
    connection: "Connection", wanted: RunsWanted, request: PageRequest
) -> Page[WorkspaceRun]:
    """Return a page of the runs of the caller's workspace that `wanted` means."""
    return workspace_runs.page(connection, wanted, request)
