"""The API as a WSGI application, called as the local stack's gateway calls it."""

from collections.abc import Callable, Iterable
from http.client import responses
from typing import Any

from devstack.gateway_event import Request, gateway_event, http_response
from devstack.sandbox import Invocation
from http_api.handler import lambda_handler
from tests.integration.http_api.client import LAMBDA_CONTEXT

StartResponse = Callable[[str, list[tuple[str, str]]], Any]


def application(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    """Answer one request."""
    result = lambda_handler(gateway_event(_request(environ)), LAMBDA_CONTEXT)  # type: ignore[arg-type]
    response = http_response(Invocation(result))
    status = f"{response.status} {responses.get(response.status, '')}"
    start_response(status, [(name, value) for name, value in response.headers])
    return [response.body]


def _request(environ: dict[str, Any]) -> Request:
    headers = [
        (name.removeprefix("HTTP_").replace("_", "-").lower(), str(value))
        for name, value in environ.items()
        if name.startswith("HTTP_") or name in {"CONTENT_TYPE", "CONTENT_LENGTH"}
    ]
    return Request(
        method=environ["REQUEST_METHOD"],
        target=_target(environ),
        headers=headers,
        body=environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)),
        source_ip="127.0.0.1",
    )


def _target(environ: dict[str, Any]) -> str:
    # As it was sent: PATH_INFO is decoded, as Latin-1 at that.
    path = str(environ["REQUEST_URI"]).partition("?")[0]
    query = environ.get("QUERY_STRING")
    return f"{path}?{query}" if query else path
