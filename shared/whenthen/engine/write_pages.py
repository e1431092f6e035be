"""Pages as people read and write them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from whenthen.domain.errors import InvalidError, NotFoundError
from whenthen.domain.kinds import EventType
from whenthen.domain.rules import data_events
from whenthen.domain.schemas.data import CreatePage
from whenthen.engine.identify import Caller
from whenthen.store import data_lists, outbox, pages
from whenthen.store.new_id import new_id
from whenthen.store.outbox import OutboxEvent
from whenthen.store.pages import NewPage, PageRow
from whenthen.store.paging import Page, PageRequest

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A page, and the events to publish after the commit."""

    page: PageRow
    events: Sequence[OutboxEvent]


def pages_of(connection: "Connection", caller: Caller, request: PageRequest) -> Page[PageRow]:
    """Return a page of the workspace's pages."""
    return data_lists.pages(connection, caller.workspace_id, request)


def page(connection: "Connection", page_id: UUID) -> PageRow:
    """Return a page that the caller may see.

    Raises:
        NotFoundError: there is none.

    """
    found = pages.get(connection, page_id)
    if found is None:
        raise NotFoundError
    return found


def create(connection: "Connection", caller: Caller, body: CreatePage) -> WrittenPage:
    """Add a page; it emits `page.created`.

    Raises:
        InvalidError: the parent is no page of this workspace.

    """
    new = NewPage(new_id(), caller.workspace_id, body.title, body.parent_id, body.content)
    row = pages.insert(connection, [new]).get(new.id)
    if row is None:
        detail = {"path": "parentId", "message": "no page of this workspace", "type": "page"}
        raise InvalidError("VALIDATION_FAILED", "the parent is unknown", [detail])
    payload = data_events.page_created(row.id, row.parent_id, row.title)
    event = outbox.new_event(
        workspace_id=caller.workspace_id,
        type=EventType.PAGE_CREATED.value,
        payload=payload,
        actor_id=caller.user_id,
        automation_context=caller.automation_context,
    )
    return WrittenPage(row, outbox.add(connection, [event]))
