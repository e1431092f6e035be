"""Answers HTTP requests (API Gateway HTTP API, payload format 2.0)."""

from typing import TYPE_CHECKING, Any

from http_api.resolver import SERVICE, build_resolver
from whenthen.engine.composition import process_context

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

app = build_resolver()


def lambda_handler(event: dict[str, Any], lambda_context: "LambdaContext") -> dict[str, Any]:
    """Return the answer to one request; whatever the request holds, an answer is what comes out.

    Source: the event shape of AWS, "AWS Lambda proxy integrations for HTTP APIs".
    """
    context = process_context(SERVICE)
    try:
        return app.resolve(event, lambda_context)
    finally:
        context.metrics.flush()
