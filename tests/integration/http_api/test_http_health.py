"""Whether the API is up, and what it says while its database is not."""

from collections.abc import Iterator

import pytest

from http_api.resolver import SERVICE
from tests.integration.http_api.client import Answer, Client, gateway_event, send
from whenthen.engine.composition import process_context


def public(path: str) -> Answer:
    return send(gateway_event("GET", path, None, {}, {}))


@pytest.mark.usefixtures("api")
def test_health_needs_no_database_and_readiness_names_the_schema() -> None:
    assert public("/healthz").json == {"status": "ok"}
    ready = public("/readyz").json
    assert ready["status"] == "ok"
    assert ready["schema"].endswith(".sql")


@pytest.fixture
def unreachable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DATABASE_URL", "postgresql://postgres@127.0.0.1:1/nothing")
    process_context.cache_clear()
    yield
    process_context.cache_clear()


@pytest.mark.usefixtures("unreachable")
def test_an_unreachable_database_is_503_with_retry_after() -> None:
    for answer in (Client("wt_x").get("/me"), public("/readyz")):
        assert (answer.status, answer.code) == (503, "UNAVAILABLE")
        assert answer.headers["retry-after"] == "1"
    assert public("/healthz").status == 200


def test_an_unmigrated_database_is_not_ready(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", empty_database_url)
    process_context.cache_clear()
    assert public("/readyz").status == 503
    process_context(SERVICE).database.close()
    process_context.cache_clear()
