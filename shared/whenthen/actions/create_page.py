"""CREATE_PAGE: adds a page to the run's workspace."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.engine import Connection

from whenthen.actions.answers import in_order, split
from whenthen.actions.as_text import as_text
from whenthen.actions.named_ids import not_found, read_id
from whenthen.actions.record_events import emitted
from whenthen.actions.requests import StepAnswer, StepRequest, StepSuccess
from whenthen.domain.kinds import EventType
from whenthen.domain.rules import data_events
from whenthen.store import pages
from whenthen.store.new_id import new_id
from whenthen.store.pages import NewPage, PageRow


def apply(connection: Connection, requests: Sequence[StepRequest]) -> list[StepAnswer]:
    """Create the page of each request; the output is `{"pageId"}`."""
    new, unread = split(range(len(requests)), lambda place: _page(requests[place]))
    rows = pages.insert(connection, list(new.values()))

    def answer(place: int) -> StepSuccess:
        row = rows.get(new[place].id)
        if row is None:
            raise not_found("parent page")
        return _success(requests[place], row)

    successes, refused = split(new, answer)
    return in_order(successes, unread | refused)


def _page(request: StepRequest) -> NewPage:
    parent: Any = request.config.get("parentId")
    content: Any = request.config.get("content")
    return NewPage(
        id=new_id(),
        workspace_id=request.workspace_id,
        title=as_text(request.config["title"]),
        parent_id=None if parent is None else read_id(parent, "parent page"),
        content=None if content is None else as_text(content),
    )


def _success(request: StepRequest, row: PageRow) -> StepSuccess:
    payload = data_events.page_created(row.id, row.parent_id, row.title)
    return StepSuccess({"pageId": str(row.id)}, [emitted(request, EventType.PAGE_CREATED, payload)])
