"""Routes about schedules."""

from http_api.bodies import JsonObject
from http_api.dispatch import Call
from http_api.needs import SIGNED_IN
from http_api.routing import route
from whenthen.domain import instants
from whenthen.domain.schemas.schedules import PreviewSchedule
from whenthen.engine.preview_schedule import preview


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
