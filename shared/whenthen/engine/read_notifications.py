"""What a person was told, and that they have read it."""

from typing import TYPE_CHECKING
from uuid import UUID

from whenthen.domain.errors import NotFoundError
from whenthen.engine.identify import Caller
from whenthen.store import data_lists, tenants
from whenthen.store.data_lists import NotificationRow
from whenthen.store.paging import Page, PageRequest

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def me(connection: "Connection", caller: Caller) -> tenants.User:
    """Return the caller with the workspaces they belong to."""
    return tenants.user(connection, caller.user_id)


def notifications(
    connection: "Connection", caller: Caller, request: PageRequest
) -> Page[NotificationRow]:
    """Return a page of the caller's own notifications."""
    return data_lists.notifications(connection, caller.user_id, request)


def mark_read(connection: "Connection", caller: Caller, notification_id: UUID) -> NotificationRow:
    """Return the caller's own notification, now read; a second call changes nothing.

    Raises:
        NotFoundError: it is unknown or somebody else's.

    """
    found = data_lists.mark_read(connection, caller.user_id, notification_id)
    if found is None:
        raise NotFoundError
    return found
