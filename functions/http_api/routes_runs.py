"""Routes about an automation's runs: start one, list them, look at one, retry it, cancel it."""

from functools import partial

from http_api import bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import EDIT_AUTOMATION, VIEW_AUTOMATION
from http_api.paging import page_body, page_request
from http_api.query import word_in
from http_api.routing import route
from whenthen.domain.kinds import RunStatus
from whenthen.domain.schemas.runs import RetryBody, RunAutomationBody
from whenthen.engine import cancel_run, read_runs, retry_runs, start_manual_run
from whenthen.engine.publish import publish


@route(
    "POST",
    "/automations/{automationId}/run",
    needs=EDIT_AUTOMATION,
    body=RunAutomationBody,
    status=202,
    answers="RunStarted",
    errors=("ARCHIVED",),
)
def run_automation(call: Call[RunAutomationBody]) -> JsonObject:
    run = start_manual_run.start(
        call.connection,
        call.caller,
        call.path_id("automationId"),
        call.body.input or {},
        sanitized=call.sanitized,
    )
    call.after_commit(lambda context: start_manual_run.announce(context, run))
    return {"runId": str(run.run_id)}


@route(
    "GET",
    "/automations/{automationId}/runs",
    needs=VIEW_AUTOMATION,
    lists="RunSummary",
    query={"status": RunStatus},
)
def list_runs(call: Call[None]) -> JsonObject:
    automation_id = call.path_id("automationId")
    status = word_in(call.request.query, "status", RunStatus)
    scope = f"runs:{automation_id}:{status}"
    request = page_request(call.request.query, scope)
    page = read_runs.runs(call.connection, automation_id, status, request)
    return page_body(page, scope, bodies.run_summary)


@route(
    "GET",
    "/automations/{automationId}/runs/{runId}",
    needs=VIEW_AUTOMATION,
    answers="RunDetail",
)
def get_run(call: Call[None]) -> JsonObject:
    automation_id, run_id = call.path_id("automationId"), call.path_id("runId")
    return bodies.run_detail(read_runs.run(call.connection, automation_id, run_id))


@route(
    "POST",
    "/automations/{automationId}/runs/{runId}/retry",
    needs=EDIT_AUTOMATION,
    body=RetryBody,
    answers="RunChanged",
    errors=("ARCHIVED", "NOT_RETRYABLE", "RETRY_POINT_INVALID"),
)
def retry(call: Call[RetryBody]) -> JsonObject:
    run = retry_runs.retry(
        call.connection,
        call.caller,
        call.path_id("automationId"),
        call.path_id("runId"),
        from_=call.body.from_,
        latest=call.body.version == "latest",
    )
    call.after_commit(lambda context: start_manual_run.announce(context, run))
    return {"runId": str(run.run_id), "status": RunStatus.PENDING.value}


@route(
    "POST",
    "/automations/{automationId}/runs/{runId}/cancel",
    needs=EDIT_AUTOMATION,
    status=202,
    answers="RunChanged",
    errors=("INVALID_TRANSITION",),
)
def cancel(call: Call[None]) -> JsonObject:
    automation_id, run_id = call.path_id("automationId"), call.path_id("runId")
    cancelled = cancel_run.cancel(call.connection, call.caller, automation_id, run_id)
    call.after_commit(partial(publish, events=cancelled.events))
    return {"runId": str(run_id), "status": cancelled.status.value}
