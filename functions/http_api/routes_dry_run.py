"""The route that shows what an automation would do with an event, without doing it."""

from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import EDIT_AUTOMATION
from http_api.routing import route
from whenthen.domain.schemas.dry_run import DryRunBody
from whenthen.engine import dry_run
from whenthen.engine.shown_actions import ShownAction


@route(
    "POST",
    "/automations/{automationId}/dry-run",
    needs=EDIT_AUTOMATION,
    body=DryRunBody,
    answers="DryRun",
)
def try_out(call: Call[DryRunBody]) -> JsonObject:
    tried = dry_run.dry_run(
        call.connection,
        call.path_id("automationId"),
        call.body,
        max_depth=call.context.settings.max_depth,
        sanitized=call.sanitized,
    )
    condition = tried.condition
    return {
        "wouldMatch": tried.obstacle is None,
        "reason": tried.obstacle,
        "event": tried.event,
        "condition": None
        if condition is None
        else {"result": condition.result, "explain": condition.explain},
        "actions": [_action(one) for one in tried.actions],
    }


def _action(action: ShownAction) -> JsonObject:
    return {
        "index": action.index,
        "type": action.type,
        "config": action.config,
        "problems": [{"path": one.place, "code": one.code} for one in action.problems],
    }
