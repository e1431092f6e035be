"""The audit log as admins read it."""

from typing import TYPE_CHECKING

from whenthen.engine.identify import Caller
from whenthen.store import audit_list
from whenthen.store.audit_list import AuditRow
from whenthen.store.paging import Page, PageRequest

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def entries_of(connection: "Connection", caller: Caller, request: PageRequest) -> Page[AuditRow]:
    """Return a page of the workspace's audit log."""
    return audit_list.page(connection, caller.workspace_id, request)
