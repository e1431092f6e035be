"""Routes about the caller: who they are and what they were told."""

from http_api import bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import SIGNED_IN
from http_api.paging import page_body, page_request
from http_api.routing import route
from whenthen.engine import read_notifications

_NOTIFICATIONS = "notifications"


@route(
    "GET",
    "/me",
    needs=SIGNED_IN,
    answers="Me",
)
def me(call: Call[None]) -> JsonObject:
    return bodies.user(read_notifications.me(call.connection, call.caller))


@route(
    "GET",
    "/me/notifications",
    needs=SIGNED_IN,
    lists="Notification",
)
def list_notifications(call: Call[None]) -> JsonObject:
    scope = f"{_NOTIFICATIONS}:{call.caller.user_id}"
    request = page_request(call.request.query, scope)
    page = read_notifications.notifications(call.connection, call.caller, request)
    return page_body(page, scope, bodies.notification)


@route(
    "POST",
    "/me/notifications/{notificationId}/read",
    needs=SIGNED_IN,
    answers="Notification",
)
def read_notification(call: Call[None]) -> JsonObject:
    notification_id = call.path_id("notificationId")
    found = read_notifications.mark_read(call.connection, call.caller, notification_id)
    return bodies.notification(found)
