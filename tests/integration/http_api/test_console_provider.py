"""How the console gets to know the identity provider, and which origins it may call there."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from http_api.console_files import site
from http_api.console_provider import AGAIN_S, FRESH_S, ProviderOrigins, origin_of
from http_api.oidc_fetch import FetchError
from tests.integration.conftest import Aws
from tests.integration.http_api.client import gateway_event, send
from tests.integration.http_api.conftest import serving
from tests.integration.http_api.issuer import running_issuer
from whenthen.domain import json_text

ISSUER = "https://id.example.com/realms/a"
CLIENT_ID = 'console"><script>'


def test_the_page_names_the_provider_that_is_configured_and_may_call_it(
    migrated_url: str, aws: Aws
) -> None:
    with running_issuer() as issuer:
        issuer.publish(token_endpoint="https://tokens.example.com/t")
        oidc = {"OIDC_ISSUER": issuer.url, "OIDC_AUDIENCE": "a", "OIDC_CLIENT_ID": CLIENT_ID}
        with serving(migrated_url, aws.stream, aws.queue_url, **oidc):
            answer = send(gateway_event("GET", "/", None, {}, {}))
            file = f"/console/{site().build}/app.js"
            of_file = send(gateway_event("GET", file, None, {}, {})).headers
            tag = answer.headers["etag"]
            again = send(gateway_event("GET", "/", None, {}, {"if-none-match": tag}))
    with serving(migrated_url, aws.stream, aws.queue_url):
        elsewhere = send(gateway_event("GET", "/", None, {}, {}))
    assert again.status == 304
    assert elsewhere.headers["etag"] != tag
    # The files need no leave to call the provider: for them nobody asks it.
    assert "connect-src 'self';" in of_file["content-security-policy"]
    (told,) = re.findall(r'<meta name="oidc" content="([^"]*)">', answer.text)
    expected = {"issuer": issuer.url, "clientId": CLIENT_ID, "audience": "a"}
    assert json_text.loads(unescape(told)) == expected
    assert "<script>" not in told
    allowed = f"connect-src 'self' {issuer.url} https://tokens.example.com;"
    assert allowed in answer.headers["content-security-policy"]


def test_with_an_issuer_but_no_client_the_console_takes_tokens_only(
    migrated_url: str, aws: Aws
) -> None:
    oidc = {"OIDC_ISSUER": ISSUER, "OIDC_AUDIENCE": "a"}
    with serving(migrated_url, aws.stream, aws.queue_url, **oidc):
        answer = send(gateway_event("GET", "/", None, {}, {}))
    assert '<meta name="oidc" content="">' in answer.text
    assert "connect-src 'self';" in answer.headers["content-security-policy"]


def failing(_url: str) -> Any:
    raise FetchError("no answer")


@pytest.mark.parametrize(
    ("fetch", "origins"),
    [
        (lambda _: {"issuer": ISSUER, "token_endpoint": "https://t.example/x"}, 2),
        (lambda _: {"issuer": ISSUER, "token_endpoint": f"{ISSUER}/token"}, 1),
        (lambda _: {"issuer": ISSUER}, 1),
        (lambda _: {"issuer": ISSUER, "token_endpoint": "http://t.example/x"}, 1),
        (lambda _: {"issuer": ISSUER, "token_endpoint": "https://t.example; script-src */x"}, 1),
        (lambda _: {"issuer": "https://else", "token_endpoint": "https://t.example/x"}, 1),
        (lambda _: [], 1),
        (failing, 1),
    ],
)
def test_only_the_issuers_own_word_adds_an_origin(
    fetch: Callable[[str], Any], origins: int
) -> None:
    found = ProviderOrigins(ISSUER, fetch).origins()
    assert "https://id.example.com" in found
    assert len(found) == origins


def answering(_url: str) -> Any:
    return {"issuer": ISSUER, "token_endpoint": "https://t.example/x"}


@pytest.mark.parametrize(("fetch", "again_s"), [(answering, FRESH_S), (failing, AGAIN_S)])
def test_the_issuer_is_not_asked_for_every_page(fetch: Callable[[str], Any], again_s: int) -> None:
    asked: list[str] = []
    now_s = [0.0]

    def noted(url: str) -> Any:
        asked.append(url)
        return fetch(url)

    origins = ProviderOrigins(ISSUER, noted, lambda: now_s[0])
    for moment_s in (0, 1, again_s - 1):
        now_s[0] = moment_s
        origins.origins()
    assert asked == [f"{ISSUER}/.well-known/openid-configuration"]
    now_s[0] = again_s
    origins.origins()
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://id.example.com/a?b=c", "https://id.example.com"),
        ("https://id.example.com:8443/", "https://id.example.com:8443"),
        ("http://127.0.0.1:9/x", "http://127.0.0.1:9"),
        ("http://id.example.com/", None),
        ("https://a;script-src/", None),
        ("https://a b/", None),
        ("https://user@id.example.com/", None),
        ("", None),
    ],
)
def test_an_origin_is_nothing_but_scheme_host_and_port(url: str, origin: str | None) -> None:
    assert origin_of(url) == origin
