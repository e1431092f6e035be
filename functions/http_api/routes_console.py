"""The console: static files for the browser, with the rules under which it runs them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from http_api import console_files
from http_api.console_files import MEDIA_TYPES, File
from http_api.dispatch import PublicCall
from http_api.idempotency import Answer
from http_api.routing import public_route
from http_api.served import Served
from whenthen.domain.errors import NotFoundError

if TYPE_CHECKING:
    from whenthen.settings import Settings

_FOR_EVER: Final = "public, max-age=31536000, immutable"
_NOT_AT_ALL: Final = re.compile(r"q\s*=\s*0(\.0*)?")
_HTML: Final = MEDIA_TYPES[".html"]
_FILES: Final = tuple(media for media in MEDIA_TYPES.values() if media != _HTML)


@public_route("GET", "/", serves=(_HTML,))
def console(call: PublicCall) -> Answer:
    """Serve the console's page; it names every other file with its build."""
    settings = call.context.settings
    policy = _policy(_provider_origins(settings))
    page = _index(settings)
    # Some browsers keep the policy of the first answer after a 304: another one is another page.
    return _answer(call, page, File(_HTML, policy + page.text).etag, policy, "no-cache")


@public_route("HEAD", "/", serves=(_HTML,))
def console_head(call: PublicCall) -> Answer:
    return _without_body(console(call))


@public_route("GET", "/console/{build}/{file}", serves=_FILES, errors=("NOT_FOUND",))
def console_file(call: PublicCall) -> Answer:
    """Serve a file of this deployment's build; those of other builds are unknown."""
    site, wanted = console_files.site(), call.request.variables
    # A name among those that are there, never a path: nothing else can be asked for.
    found = site.files.get(wanted["file"])
    if wanted["build"] != site.build or found is None:
        raise NotFoundError
    return _answer(call, found, found.etag, _policy(()), _FOR_EVER)


@public_route("HEAD", "/console/{build}/{file}", serves=_FILES, errors=("NOT_FOUND",))
def console_file_head(call: PublicCall) -> Answer:
    return _without_body(console_file(call))


def _index(settings: "Settings") -> File:
    text = console_files.site().index
    if settings.oidc_client_id is not None:
        from http_api.console_provider import provider_in  # noqa: PLC0415  # brings urllib along

        text = provider_in(text, settings)
    return File(_HTML, text)


def _answer(call: PublicCall, file: File, etag: str, policy: str, cache_control: str) -> Answer:
    headers = {
        "cache-control": cache_control,
        "etag": etag,
        "vary": "accept-encoding",
        "content-security-policy": policy,
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        # For browsers that do not know frame-ancestors.
        "x-frame-options": "DENY",
    }
    asked = call.request.headers
    if _has(asked.get("if-none-match", ""), etag):
        return Answer(304, Served(None, "", headers))
    if _takes_gzip(asked.get("accept-encoding", "")):
        zipped = {**headers, "content-encoding": "gzip"}
        return Answer(200, Served(file.media_type, file.zipped, zipped))
    return Answer(200, Served(file.media_type, file.text, headers))


def _without_body(answer: Answer) -> Answer:
    return replace(answer, body=replace(answer.body, body=""))


def _has(if_none_match: str, etag: str) -> bool:
    """Return whether the browser has it; weak and strong tags are equal (RFC 9110, 13.1.2)."""
    held = {one.strip().removeprefix("W/") for one in if_none_match.split(",")}
    return "*" in held or etag.removeprefix("W/") in held


def _takes_gzip(accept_encoding: str) -> bool:
    for one in accept_encoding.lower().split(","):
        coding, _, weight = one.partition(";")
        if coding.strip() in {"gzip", "*"}:
            return _NOT_AT_ALL.fullmatch(weight.strip()) is None
    return False


def _policy(provider_origins: Sequence[str]) -> str:
    """Return the Content-Security-Policy: nothing runs or loads but these files.

    Trusted types forbid what turns a text into markup or code, wherever it would happen.
    """
    return "; ".join(
        (
            "default-src 'self'",
            " ".join(("connect-src 'self'", *provider_origins)),
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _provider_origins(settings: "Settings") -> list[str]:
    if settings.oidc_issuer is None or settings.oidc_client_id is None:
        return []
    from http_api.console_provider import origins_for  # noqa: PLC0415  # as above

    return origins_for(settings.oidc_issuer).origins()
