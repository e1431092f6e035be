"""CREATE_NOTIFICATION: tells members of the run's workspace something, in the product."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.actions.answers import in_order, split
from whenthen.actions.as_text import as_text
from whenthen.actions.named_ids import not_found, read_id
from whenthen.actions.requests import StepAnswer, StepRequest, StepSuccess
from whenthen.domain.kinds import Role
from whenthen.store import notifications
from whenthen.store.new_id import new_id
from whenthen.store.notifications import NewNotification

_ADMINS = frozenset({Role.OWNER, Role.ADMIN})


def apply(connection: Connection, requests: Sequence[StepRequest]) -> list[StepAnswer]:
    """Notify each request's people; the output is `{"notificationIds"}`, one for each of them.

    A user who is no member of the run's workspace is NOT_FOUND, and then nobody is notified.
    """
    members = notifications.members(connection, [request.workspace_id for request in requests])
    new, refused = split(
        range(len(requests)),
        lambda place: _notifications(requests[place], members[requests[place].workspace_id]),
    )
    notifications.insert(connection, [row for rows in new.values() for row in rows])
    successes = {
        place: StepSuccess({"notificationIds": [str(row.id) for row in rows]})
        for place, rows in new.items()
    }
    return in_order(successes, refused)


def _notifications(request: StepRequest, members: Mapping[UUID, Role]) -> list[NewNotification]:
    title = as_text(request.config["title"])
    body: Any = request.config.get("body")
    return [
        NewNotification(
            id=new_id(),
            workspace_id=request.workspace_id,
            user_id=user_id,
            title=title,
            body=None if body is None else as_text(body),
            run_id=request.run_id,
        )
        for user_id in _recipients(request, members)
    ]


def _recipients(request: StepRequest, members: Mapping[UUID, Role]) -> list[UUID]:
    named = request.config.get("userIds")
    if named is not None:
        return list(dict.fromkeys(_member(value, members) for value in named))
    match request.config.get("audience") or "admins":
        case "members":
            return list(members)
        case "actor":
            return [_member(str(request.actor_id), members)]
        case _:
            return [user_id for user_id, role in members.items() if role in _ADMINS]


def _member(value: Any, members: Mapping[UUID, Role]) -> UUID:
    user_id = read_id(value, "user")
    if user_id not in members:
        raise not_found("user")
    return user_id
