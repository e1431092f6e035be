"""Routes of incoming webhooks: the public one, and the one that gives an automation a new URL."""

from http_api import bodies
from http_api.bodies import JsonObject
from http_api.dispatch import Call, PublicCall
from http_api.needs import EDIT_AUTOMATION
from http_api.routing import public_route, route
from whenthen.engine import receive_webhook, regenerate_webhook
from whenthen.engine.receive_webhook import Delivery


@public_route(
    "POST",
    "/webhooks/incoming/{token}",
    status=202,
    answers="WebhookAccepted",
    standard_webhook=True,
    errors=(
        "BAD_JSON",
        "BAD_HEADER",
        "WEBHOOK_SIGNATURE_INVALID",
        "NOT_FOUND",
        "TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "UNAVAILABLE",
    ),
)
def receive(call: PublicCall) -> JsonObject:
    """Start the automation whose URL this is; a delivery that is repeated changes nothing."""
    request = call.request
    delivery = Delivery(request.headers, request.raw_body())
    return {"eventId": receive_webhook.receive(call.context, request.variables["token"], delivery)}


@route(
    "POST",
    "/automations/{automationId}/webhook/regenerate",
    needs=EDIT_AUTOMATION,
    answers="WebhookSecret",
    errors=("ARCHIVED", "NO_WEBHOOK_TRIGGER"),
)
def regenerate(call: Call[None]) -> JsonObject:
    """Make a new URL and secret, shown this once; the old URL is dead at once."""
    secret = regenerate_webhook.regenerate(
        call.connection, call.caller, call.path_id("automationId")
    )
    return bodies.webhook(secret, call.base_url)
