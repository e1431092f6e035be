"""Routes about automations as a whole; their parts are in routes_definitions."""

from functools import partial

from http_api import bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import (
    CREATE_AUTOMATION,
    EDIT_AUTOMATION,
    LIST_AUTOMATIONS,
    VIEW_AUTOMATION,
)
from http_api.paging import page_body, page_request
from http_api.query import word_in
from http_api.routing import route
from whenthen.domain.kinds import AutomationStatus
from whenthen.domain.schemas.automations import CreateAutomation, PatchAutomation, StatusBody
from whenthen.engine import align_schedules, manage_automations
from whenthen.engine.edit_definition import follow_up


@route(
    "GET",
    "/workspaces/{workspaceId}/automations",
    needs=LIST_AUTOMATIONS,
    lists="AutomationSummary",
    query={"status": AutomationStatus},
)
def list_automations(call: Call[None]) -> JsonObject:
    status = word_in(call.request.query, "status", AutomationStatus)
    scope = f"automations:{call.caller.workspace_id}:{status}"
    request = page_request(call.request.query, scope)
    page = manage_automations.automations_of(call.connection, call.caller, status, request)
    return page_body(page, scope, bodies.automation_summary)


@route(
    "POST",
    "/workspaces/{workspaceId}/automations",
    needs=CREATE_AUTOMATION,
    body=CreateAutomation,
    status=201,
    answers="EditedAutomation",
    errors=(
        "CONDITION_INVALID",
        "CRON_INVALID",
        "CRON_TOO_FREQUENT",
        "DATABASE_UNKNOWN",
        "SECRET_INVALID",
        "TEMPLATE_INVALID",
        "TIME_ZONE_INVALID",
        "WEBHOOK_URL_FORBIDDEN",
    ),
)
def create_automation(call: Call[CreateAutomation]) -> JsonObject:
    created = manage_automations.create(call.connection, call.caller, call.body)
    return bodies.edited_automation(created, call.base_url)


@route(
    "GET",
    "/automations/{automationId}",
    needs=VIEW_AUTOMATION,
    answers="AutomationDetail",
)
def get_automation(call: Call[None]) -> JsonObject:
    found = manage_automations.automation(call.connection, call.path_id("automationId"))
    return bodies.automation_detail(found)


@route(
    "PATCH",
    "/automations/{automationId}",
    needs=EDIT_AUTOMATION,
    body=PatchAutomation,
    answers="AutomationDetail",
    if_match=True,
    errors=("ARCHIVED", "DATABASE_UNKNOWN"),
)
def patch_automation(call: Call[PatchAutomation]) -> JsonObject:
    automation_id, if_match = call.path_id("automationId"), call.request.if_match()
    patched = manage_automations.patch(
        call.connection, call.caller, automation_id, call.body, if_match
    )
    call.after_commit(partial(follow_up, edited=patched))
    return bodies.automation_detail(patched.automation)


@route("DELETE", "/automations/{automationId}", needs=EDIT_AUTOMATION, status=204, if_match=True)
def archive_automation(call: Call[None]) -> None:
    automation_id, if_match = call.path_id("automationId"), call.request.if_match()
    aligned = manage_automations.archive(call.connection, call.caller, automation_id, if_match)
    call.after_commit(
        partial(align_schedules.follow_up, automation_id=automation_id, aligned=aligned)
    )


@route(
    "POST",
    "/automations/{automationId}/status",
    needs=EDIT_AUTOMATION,
    body=StatusBody,
    answers="AutomationDetail",
    if_match=True,
    errors=("ARCHIVED", "INVALID_TRANSITION"),
)
def set_status(call: Call[StatusBody]) -> JsonObject:
    automation_id, if_match = call.path_id("automationId"), call.request.if_match()
    changed = manage_automations.set_status(
        call.connection, call.caller, automation_id, call.body, if_match
    )
    call.after_commit(partial(follow_up, edited=changed))
    return bodies.automation_detail(changed.automation)
