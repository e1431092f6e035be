"""Routes about the versions of an automation: their list, one of them, and back to it."""

import re
from functools import partial
from typing import Final

from http_api import bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import EDIT_AUTOMATION, VIEW_AUTOMATION
from http_api.paging import page_body, page_request
from http_api.request import Request
from http_api.routing import route
from whenthen.domain.errors import NotFoundError
from whenthen.engine import read_versions, restore_version
from whenthen.engine.edit_definition import follow_up

# An integer of Postgres has one digit more, but no automation so many versions.
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,8}")


@route(
    "GET",
    "/automations/{automationId}/versions",
    needs=VIEW_AUTOMATION,
    lists="VersionLine",
)
def list_versions(call: Call[None]) -> JsonObject:
    automation_id = call.path_id("automationId")
    scope = f"versions:{automation_id}"
    request = page_request(call.request.query, scope)
    page = read_versions.versions(call.connection, automation_id, request)
    return page_body(page, scope, bodies.version_line)


@route(
    "GET",
    "/automations/{automationId}/versions/{version}",
    needs=VIEW_AUTOMATION,
    answers="VersionSnapshot",
)
def get_version(call: Call[None]) -> JsonObject:
    automation_id, number = call.path_id("automationId"), _number(call.request)
    return bodies.version_snapshot(read_versions.version(call.connection, automation_id, number))


@route(
    "POST",
    "/automations/{automationId}/versions/{version}/restore",
    needs=EDIT_AUTOMATION,
    answers="EditedAutomation",
    errors=(
        "ARCHIVED",
        "CONDITION_INVALID",
        "CRON_INVALID",
        "CRON_TOO_FREQUENT",
        "DATABASE_UNKNOWN",
        "SECRET_INVALID",
        "TEMPLATE_INVALID",
        "TIME_ZONE_INVALID",
        "VALIDATION_FAILED",
        "WEBHOOK_URL_FORBIDDEN",
    ),
)
def restore(call: Call[None]) -> JsonObject:
    automation_id, number = call.path_id("automationId"), _number(call.request)
    edited = restore_version.restore(call.connection, call.caller, automation_id, number)
    call.after_commit(partial(follow_up, edited=edited))
    return bodies.edited_automation(edited, call.base_url)


def _number(request: Request) -> int:
    text = request.variables["version"]
    if not _NUMBER.fullmatch(text):
        raise NotFoundError
    return int(text)
