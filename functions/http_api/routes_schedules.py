"""Routes about schedules."""

from typing import TYPE_CHECKING

from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import SIGNED_IN, VIEW_AUTOMATION
from http_api.routing import route
from whenthen.domain import instants
from whenthen.domain.schemas.schedules import PreviewSchedule
from whenthen.engine.preview_schedule import preview
from whenthen.engine.read_schedules import ShownSchedule, schedules_of

if TYPE_CHECKING:
    from whenthen.store.schedule_reads import Occurrence


@route(
    "POST",
    "/schedules/preview",
    needs=SIGNED_IN,
    body=PreviewSchedule,
    answers="SchedulePreview",
    errors=("CRON_INVALID", "CRON_TOO_FREQUENT", "TIME_ZONE_INVALID"),
)
def preview_schedule(call: Call[PreviewSchedule]) -> JsonObject:
    fires = preview(call.connection, call.body)
    return {
        "next": [instants.to_text(fire) for fire in fires],
        "timeZone": call.body.time_zone,
    }


@route(
    "GET",
    "/automations/{automationId}/schedule",
    needs=VIEW_AUTOMATION,
    answers="AutomationSchedules",
)
def get_schedules(call: Call[None]) -> JsonObject:
    found = schedules_of(call.connection, call.path_id("automationId"))
    return {"schedules": [_schedule(one) for one in found]}


def _schedule(one: ShownSchedule) -> JsonObject:
    return {
        "position": one.trigger.position,
        "cron": one.trigger.cron,
        "runEvery": one.trigger.run_every_s,
        "timeZone": one.trigger.time_zone,
        "next": [instants.to_text(fire) for fire in one.next],
        "occurrences": [_occurrence(row) for row in one.trigger.occurrences],
    }


def _occurrence(row: "Occurrence") -> JsonObject:
    return {
        "scheduledFor": instants.to_text(row.scheduled_for),
        "outcome": row.outcome,
        "reason": row.reason,
        "runId": None if row.run_id is None else str(row.run_id),
    }
