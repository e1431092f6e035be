"""A deployment that answers as a test says, and the environment that names it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import http_api.resolver
from devstack.http_server import HttpServer
from devstack.sandbox import Invocation
from http_api.openapi import document

Answer = Callable[[str, str, Any], tuple[int, Any]]

WORKSPACE = "019cafe0-0000-7000-8000-000000000001"
AUTOMATION = "019cafe0-0000-7000-8000-000000000002"
RUN = "019cafe0-0000-7000-8000-000000000003"
assert http_api.resolver.ROUTE_MODULES


class FakeDeployment:
    """Answers `answer(method, path with query, body)`; keeps what was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Any]] = []
        self.answer: Answer = lambda _method, _path, _body: (500, {})
        self._contract = document()
        self.server = HttpServer(0, self._respond)

    def _respond(self, event: Any, _wait_s: float) -> Invocation:
        if event["rawPath"] == "/openapi.json":
            return respond(200, self._contract)
        query = f"?{event['rawQueryString']}" if event["rawQueryString"] else ""
        method = event["requestContext"]["http"]["method"]
        path = event["rawPath"].removeprefix("/api/v1") + query
        body = json.loads(event["body"]) if event.get("body") else None
        self.asked.append((method, path, body))
        return respond(*self.answer(method, path, body))


def respond(status: int, body: Any) -> Invocation:
    text = body if isinstance(body, str) else json.dumps(body)
    headers = {"location": "http://127.0.0.1:1/"} if 300 <= status < 400 else {}
    return Invocation({"statusCode": status, "headers": headers, "body": text})


@pytest.fixture(scope="session")
def fake_server() -> Iterator[FakeDeployment]:
    fake = FakeDeployment()
    fake.server.start()
    yield fake
    fake.server.stop()
    fake.server.close()


@pytest.fixture
def deployment(fake_server: FakeDeployment, monkeypatch: pytest.MonkeyPatch) -> FakeDeployment:
    monkeypatch.setenv("WHENTHEN_URL", fake_server.server.url)
    monkeypatch.setenv("WHENTHEN_TOKEN", "wt_x")
    monkeypatch.delenv("WHENTHEN_WORKSPACE", raising=False)
    fake_server.asked.clear()
    return fake_server
