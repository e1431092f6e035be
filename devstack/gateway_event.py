"""HTTP requests as API Gateway's events of payload format 2.0, and answers back.

Source: AWS API Gateway Developer Guide, "Create AWS Lambda proxy integrations for HTTP APIs".
"""

import base64
import json
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, unquote

from devstack.sandbox import Invocation

ACCOUNT_ID = "123456789012"
API_ID = "devstack"
STAGE = "$default"
# Bodies of these types travel as text, all others as base64 (form posts too: as AWS does).
TEXT_TYPES = ("text/", "application/json", "application/javascript", "application/xml")


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request as it came in; `target` is the raw path with its query."""

    method: str
    target: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    source_ip: str
    protocol: str = "HTTP/1.1"


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP answer."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


def gateway_event(request: Request) -> dict[str, Any]:
    """Return the event: header names in lower case, repeated headers and parameters joined.

    `rawPath` is percent-decoded, as HTTP APIs do (REST APIs do not); `rawQueryString` is not.
    """
    raw_path, _, query = request.target.partition("?")
    path = unquote(raw_path) or "/"
    headers, cookies = _joined(request.headers)
    route_key = "ANY /" if path == "/" else "ANY /{proxy+}"
    now = time.time()
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": route_key,
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "requestContext": {
            "accountId": ACCOUNT_ID,
            "apiId": API_ID,
            "domainName": headers.get("host", "localhost"),
            "domainPrefix": headers.get("host", "localhost").split(".")[0],
            "http": {
                "method": request.method,
                "path": path,
                "protocol": request.protocol,
                "sourceIp": request.source_ip,
                "userAgent": headers.get("user-agent", ""),
            },
            "requestId": str(uuid.uuid4()),
            "routeKey": route_key,
            "stage": STAGE,
            "time": datetime.fromtimestamp(now, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000"),
            "timeEpoch": int(now * 1000),
        },
        "isBase64Encoded": False,
    }
    if cookies:
        event["cookies"] = cookies
    if query:
        event["queryStringParameters"] = _parameters(query)
    if path != "/":
        event["pathParameters"] = {"proxy": path.removeprefix("/")}
    if request.body:
        event |= _body(request.body, headers.get("content-type", ""))
    return event


def http_response(invocation: Invocation) -> Response:
    """Return the answer to the caller: the function's, or the gateway's own error."""
    if invocation.error is not None:
        if invocation.timed_out:
            return gateway_error(503, "Service Unavailable")
        return gateway_error(500, "Internal Server Error")
    answer = invocation.result
    if not isinstance(answer, dict) or "statusCode" not in answer:
        # Format 2.0 takes anything else for the body of a 200.
        body = answer if isinstance(answer, str) else json.dumps(answer)
        return Response(200, [("content-type", "application/json")], body.encode())
    try:
        return _translated(answer)
    except (TypeError, ValueError, AttributeError):
        return gateway_error(500, "Internal Server Error")


def gateway_error(status: int, message: str) -> Response:
    """Return an answer that comes from the gateway and not from the function."""
    body = json.dumps({"message": message}).encode()
    return Response(status, [("content-type", "application/json")], body)


def _translated(answer: dict[str, Any]) -> Response:
    headers = [(str(name).lower(), str(value)) for name, value in answer.get("headers", {}).items()]
    headers += [("set-cookie", str(cookie)) for cookie in answer.get("cookies", [])]
    if not any(name == "content-type" for name, _ in headers):
        headers.append(("content-type", "text/plain;charset=UTF-8"))
    text = answer.get("body") or ""
    encoded = bool(answer.get("isBase64Encoded"))
    body = base64.b64decode(text, validate=True) if encoded else text.encode()
    return Response(int(answer["statusCode"]), headers, body)


def _joined(headers: Sequence[tuple[str, str]]) -> tuple[dict[str, str], list[str]]:
    joined: dict[str, str] = {}
    cookies: list[str] = []
    for name, value in headers:
        key = name.lower()
        if key == "cookie":
            cookies += [cookie.strip() for cookie in value.split(";") if cookie.strip()]
        else:
            joined[key] = f"{joined[key]},{value}" if key in joined else value
    return joined, cookies


def _parameters(query: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        parameters[name] = f"{parameters[name]},{value}" if name in parameters else value
    return parameters


def _body(body: bytes, content_type: str) -> dict[str, Any]:
    if content_type.lower().startswith(TEXT_TYPES):
        try:
            return {"body": body.decode("utf-8"), "isBase64Encoded": False}
        except UnicodeDecodeError:
            pass
    return {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}
