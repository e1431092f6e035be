"""Routes that replace a part of an automation's definition."""

from functools import partial

from http_api import bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import EDIT_AUTOMATION
from http_api.routing import route
from whenthen.domain.schemas.automations import ActionsBody, ConditionBody, TriggersBody
from whenthen.engine import edit_definition
from whenthen.engine.edit_definition import follow_up


@route(
    "PUT",
    "/automations/{automationId}/triggers",
    needs=EDIT_AUTOMATION,
    body=TriggersBody,
    answers="EditedAutomation",
    if_match=True,
    errors=(
        "ARCHIVED",
        "CRON_INVALID",
        "CRON_TOO_FREQUENT",
        "DATABASE_UNKNOWN",
        "SECRET_INVALID",
        "TIME_ZONE_INVALID",
    ),
)
def put_triggers(call: Call[TriggersBody]) -> JsonObject:
    automation_id, if_match = call.path_id("automationId"), call.request.if_match()
    edited = edit_definition.put_triggers(
        call.connection, call.caller, automation_id, call.body, if_match
    )
    call.after_commit(partial(follow_up, edited=edited))
    return bodies.edited_automation(edited, call.base_url)


@route(
    "PUT",
    "/automations/{automationId}/conditions",
    needs=EDIT_AUTOMATION,
    body=ConditionBody,
    answers="EditedAutomation",
    if_match=True,
    errors=("ARCHIVED", "CONDITION_INVALID"),
)
def put_condition(call: Call[ConditionBody]) -> JsonObject:
    automation_id, if_match = call.path_id("automationId"), call.request.if_match()
    edited = edit_definition.put_condition(
        call.connection, call.caller, automation_id, call.body, if_match
    )
    call.after_commit(partial(follow_up, edited=edited))
    return bodies.edited_automation(edited, call.base_url)


@route(
    "PUT",
    "/automations/{automationId}/actions",
    needs=EDIT_AUTOMATION,
    body=ActionsBody,
    answers="EditedAutomation",
    if_match=True,
    errors=(
        "ARCHIVED",
        "DATABASE_UNKNOWN",
        "SECRET_INVALID",
        "TEMPLATE_INVALID",
        "WEBHOOK_URL_FORBIDDEN",
    ),
)
def put_actions(call: Call[ActionsBody]) -> JsonObject:
    automation_id, if_match = call.path_id("automationId"), call.request.if_match()
    edited = edit_definition.put_actions(
        call.connection, call.caller, automation_id, call.body, if_match
    )
    call.after_commit(partial(follow_up, edited=edited))
    return bodies.edited_automation(edited, call.base_url)
