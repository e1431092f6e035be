"""One document of the identity provider, over real sockets: what is not taken."""

from collections.abc import Iterator
from itertools import count

import pytest

from http_api.oidc_fetch import DEADLINE_S, DOCUMENT_MAX_BYTES, FetchError, fetch_json
from tests.integration.http_api.issuer import Issuer, running_issuer


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with running_issuer() as running:
        running.documents |= {
            "/good": {"a": 1},
            "/broken": b"{",
            "/redirect": "elsewhere",
            "/large": b" " * (DOCUMENT_MAX_BYTES + 1),
            "/as-large": b"7" + b" " * (DOCUMENT_MAX_BYTES - 1),
        }
        yield running


def test_a_document_is_its_json_value(issuer: Issuer) -> None:
    assert fetch_json(f"{issuer.url}/good") == {"a": 1}
    assert fetch_json(f"{issuer.url}/as-large") == 7


@pytest.mark.parametrize("path", ["/broken", "/large", "/nowhere", "/redirect", "/a b"])
def test_what_is_no_document_is_refused(issuer: Issuer, path: str) -> None:
    with pytest.raises(FetchError):
        fetch_json(f"{issuer.url}{path}")


@pytest.mark.parametrize(
    "url", ["http://example.com/keys", "file:///etc/passwd", "None", "http://127.0.0.1:1/keys"]
)
def test_an_address_that_is_none_or_not_safe_is_refused(url: str) -> None:
    with pytest.raises(FetchError):
        fetch_json(url)


def test_a_document_that_takes_too_long_is_refused(issuer: Issuer) -> None:
    ticks = count(step=int(DEADLINE_S) + 1)
    with pytest.raises(FetchError, match="slowly"):
        fetch_json(f"{issuer.url}/good", lambda: float(next(ticks)))
