"""The console: static files for the browser, with the rules under which it runs them."""

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
_HTML: Final = MEDIA_TYPES[".html"]
_FILES: Final = tuple(media for media in MEDIA_TYPES.values() if media != _HTML)


@public_route("GET", "/", serves=(_HTML,))
def console(call: PublicCall) -> Answer:
    """Serve the console's page; it names every other file with its build."""
    return _answer(call, _index(call.context.settings), "no-cache")


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
    return _answer(call, found, _FOR_EVER)


@public_route("HEAD", "/console/{build}/{file}", serves=_FILES, errors=("NOT_FOUND",))
def console_file_head(call: PublicCall) -> Answer:
    return _without_body(console_file(call))


def _index(settings: "Settings") -> File:
    text = console_files.site().index
    if settings.oidc_client_id is not None:
        from http_api.console_provider import provider_in  # noqa: PLC0415  # brings urllib along

        text = provider_in(text, settings)
    return File(_HTML, text)


def _answer(call: PublicCall, file: File, cache_control: str) -> Answer:
    headers = {
        "cache-control": cache_control,
        "etag": file.etag,
        "vary": "accept-encoding",
        "content-security-policy": _policy(call.context.settings),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        # For browsers that do not know frame-ancestors.
        "x-frame-options": "DENY",
    }
    asked = call.request.headers
    if file.etag in asked.get("if-none-match", ""):
        return Answer(304, Served(None, "", headers))
    if "gzip" in asked.get("accept-encoding", ""):
        zipped = {**headers, "content-encoding": "gzip"}
        return Answer(200, Served(file.media_type, file.zipped, zipped))
    return Answer(200, Served(file.media_type, file.text, headers))


def _without_body(answer: Answer) -> Answer:
    return replace(answer, body=replace(answer.body, body=""))


def _policy(settings: "Settings") -> str:
    """Return the Content-Security-Policy: nothing runs or loads but these files.

    Trusted types forbid what turns a text into markup or code, wherever it would happen.
    """
    return "; ".join(
        (
            "default-src 'self'",
            " ".join(("connect-src 'self'", *_provider_origins(settings))),
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
