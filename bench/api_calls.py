"""Calls of the HTTP API's handler in this process, as API Gateway makes them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlencode
from uuid import uuid4

from bench.engine_database import EngineDatabase
from bench.in_process import FLUSH
from bench.triage import Triage
from whenthen.engine.composition import process_context
from whenthen.store import tenants

_CONTEXT = SimpleNamespace(aws_request_id="bench", function_name="http-api")
Query = dict[str, str]


@dataclass(frozen=True)
class Api:
    """The API for the holder of `token`."""

    token: str

    def get(self, path: str, query: Query) -> Any:
        """Return the JSON that a GET below `/api/v1` is answered with; anything but 200 ends us."""
        answer = _handler()(_event(path, query, self.token), _CONTEXT)
        if answer["statusCode"] != 200:
            raise SystemExit(f"GET {path}: {answer['statusCode']} {answer['body']}")
        return json.loads(answer["body"])

    def hand_over_counts(self) -> None:
        """Let the server count what these calls have read so far."""
        process_context("http-api").database.transact(lambda c: c.execute(FLUSH))

    def close(self) -> None:
        process_context("http-api").database.close()


def api_of_owner(engine: EngineDatabase, triage: Triage) -> Api:
    """Return the API as the owner of the workspace of `triage` uses it."""
    _, token = engine.database.transact(
        lambda connection: tenants.create_token(connection, triage.owner_id, "bench", None)
    )
    return Api(token)


def _handler() -> Callable[[Any, Any], Any]:
    from http_api.handler import lambda_handler  # noqa: PLC0415  # the environment comes first

    return cast("Callable[[Any, Any], Any]", lambda_handler)


def _event(path: str, query: Query, token: str) -> dict[str, Any]:
    path = f"/api/v1{path}"
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": urlencode(query),
        "headers": {"authorization": f"Bearer {token}"},
        "queryStringParameters": query or None,
        "requestContext": {
            "requestId": uuid4().hex,
            "domainName": "api.example.test",
            "stage": "$default",
            "http": {"method": "GET", "path": path, "protocol": "HTTP/1.1"},
        },
        "body": None,
        "isBase64Encoded": False,
    }
