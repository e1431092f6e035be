"""Routes about the runs of a whole workspace: search them, bring the failed ones back."""

from datetime import datetime
from uuid import UUID

from http_api import bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.idempotency import Answer
from http_api.needs import ADMIN_WORKSPACE, VIEW_WORKSPACE
from http_api.paging import page_body, page_request
from http_api.query import id_in, text_in, window_in, word_in
from http_api.routing import route
from whenthen.domain.kinds import RunStatus
from whenthen.domain.schemas.redrive import RedriveBody
from whenthen.engine import list_workspace_runs, retry_runs
from whenthen.store.run_retries import RunFilter
from whenthen.store.workspace_runs import RunsWanted


@route(
    "GET",
    "/workspaces/{workspaceId}/runs",
    needs=VIEW_WORKSPACE,
    lists="WorkspaceRun",
    query={
        "status": RunStatus,
        "automationId": UUID,
        "recordId": str,
        "rootRunId": UUID,
        "from": datetime,
        "to": datetime,
    },
)
def list_runs_of_workspace(call: Call[None]) -> JsonObject:
    query = call.request.query
    since, until = window_in(query)
    wanted = RunsWanted(
        workspace_id=call.caller.workspace_id,
        status=word_in(query, "status", RunStatus),
        automation_id=id_in(query, "automationId"),
        record_id=text_in(query, "recordId"),
        root_run_id=id_in(query, "rootRunId"),
        created_from=since,
        created_to=until,
    )
    scope = f"workspace runs:{wanted}"
    request = page_request(query, scope)
    page = list_workspace_runs.runs_of(call.connection, wanted, request)
    return page_body(page, scope, bodies.workspace_run)


@route(
    "POST",
    "/workspaces/{workspaceId}/runs/redrive",
    needs=ADMIN_WORKSPACE,
    body=RedriveBody,
    status=202,
    answers="Redriven",
    also_status=200,
)
def redrive(call: Call[RedriveBody]) -> JsonObject | Answer:
    body = call.body
    wanted = RunFilter(
        workspace_id=call.caller.workspace_id,
        status=None if body.status is None else RunStatus(body.status),
        automation_id=body.automation_id,
        record_id=body.record_id,
        created_from=body.from_,
        created_to=body.to,
    )
    if body.dry_run:
        count = retry_runs.redrivable(call.connection, wanted)
        return Answer(200, {"count": count, "dryRun": True})
    return {"count": retry_runs.redrive(call.connection, call.caller, wanted), "dryRun": False}
