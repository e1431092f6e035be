"""Routes about runs: start one by hand, list them, look at one."""

from http_api import bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import EDIT_AUTOMATION, VIEW_AUTOMATION
from http_api.paging import page_body, page_request
from http_api.query import word_in
from http_api.routing import route
from whenthen.domain.kinds import RunStatus
from whenthen.domain.schemas.runs import RunAutomationBody
from whenthen.engine import read_runs, start_manual_run


@route(
    "POST",
    "/automations/{automationId}/run",
    needs=EDIT_AUTOMATION,
    body=RunAutomationBody,
    status=202,
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


@route("GET", "/automations/{automationId}/runs", needs=VIEW_AUTOMATION)
def list_runs(call: Call[None]) -> JsonObject:
    automation_id = call.path_id("automationId")
    status = word_in(call.request.query, "status", RunStatus)
    scope = f"runs:{automation_id}:{status}"
    request = page_request(call.request.query, scope)
    page = read_runs.runs(call.connection, automation_id, status, request)
    return page_body(page, scope, bodies.run_summary)


@route("GET", "/automations/{automationId}/runs/{runId}", needs=VIEW_AUTOMATION)
def get_run(call: Call[None]) -> JsonObject:
    automation_id, run_id = call.path_id("automationId"), call.path_id("runId")
    return bodies.run_detail(read_runs.run(call.connection, automation_id, run_id))
