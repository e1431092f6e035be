"""Whether the function is up, and whether its database answers."""

from http_api.dispatch import PublicCall
from http_api.routing import public_route
from whenthen.engine.check_readiness import ready_schema


@public_route(
    "GET",
    "/healthz",
    answers="Healthy",
)
def healthz(_: PublicCall) -> dict[str, str]:
    return {"status": "ok"}


@public_route(
    "GET",
    "/readyz",
    answers="Ready",
    errors=("UNAVAILABLE",),
)
def readyz(call: PublicCall) -> dict[str, str]:
    return {"status": "ok", "schema": ready_schema(call.context)}
