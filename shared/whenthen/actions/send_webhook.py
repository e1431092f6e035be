"""SEND_WEBHOOK: one HTTP request to a public address, signed, under one deadline, never repeated.

Trying again is the engine's decision. Each attempt resolves and checks the address anew, and
carries the same webhook-id, by which the receiver can tell a repetition.
"""

import ssl
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from time import monotonic
from typing import Any, Final

import httpcore

from whenthen.actions.as_text import as_text
from whenthen.actions.deadline import Deadline
from whenthen.actions.dialling import Dial, dial
from whenthen.actions.requests import StepRequest, StepSuccess
from whenthen.actions.resolving import Resolve, system_addresses
from whenthen.actions.webhook_addresses import checked_addresses, forbidden
from whenthen.actions.webhook_body import body_value, read_body
from whenthen.actions.webhook_connection import PinnedBackend
from whenthen.actions.webhook_message import Message, compose
from whenthen.domain.errors import FatalError, RetryableError, WhenthenError
from whenthen.domain.limits import WEBHOOK_HEADER_SHOWN_MAX_CHARS
from whenthen.domain.rules.backoff import parse_retry_after
from whenthen.domain.rules.outgoing_url import OutgoingUrl, read_outgoing_url
from whenthen.domain.rules.redact import redact

_SHOWN_HEADERS: Final = ("content-type", "retry-after", "location", "x-request-id")


@lru_cache(maxsize=1)
def trusted_authorities() -> ssl.SSLContext:
    """Return what certificates are checked against, built once: it takes tens of milliseconds."""
    return httpcore.default_ssl_context()


@dataclass(frozen=True, slots=True)
class Network:
    """How this process reaches the outside; tests put their own in place of each part."""

    resolve: Resolve = system_addresses
    dial: Dial = dial
    tls: Callable[[], ssl.SSLContext] = trusted_authorities


def perform(request: StepRequest, network: Network = Network()) -> StepSuccess:
    """Send the webhook of `request` and return what became of it.

    ::

        {"status": 200, "headers": {"content-type": "application/json"}, "body": {"ok": true},
         "bodyTruncated": false, "ms": 84}

    Raises:
        RetryableError: WEBHOOK_HTTP_RETRIABLE, the target answered 429 or 5xx.
        FatalError: WEBHOOK_HTTP_ERROR, it answered anything else that is not 2xx, a redirect
            included; WEBHOOK_URL_FORBIDDEN, its address may not be called; UNEXPECTED, its name
            does not exist, its certificate is not valid or its answer is not HTTP.
        ActionTimeoutError: it had not answered in full when the deadline passed.
        OSError: it could not be reached, or broke off before it answered.

    """
    started_s = monotonic()
    deadline = Deadline(request.timeout_s)
    url = read_outgoing_url(as_text(request.config["url"]), request.settings.webhook_allow_hosts)
    if url is None:
        raise forbidden()
    message = compose(request, url, int(datetime.now(UTC).timestamp()))
    addresses = checked_addresses(url, deadline, network.resolve)
    backend = PinnedBackend(addresses, deadline, network.dial)
    answer = _exchange(url, message, backend, network, request.secrets)
    return StepSuccess({**answer, "ms": round((monotonic() - started_s) * 1000)})


def _exchange(
    url: OutgoingUrl,
    message: Message,
    backend: PinnedBackend,
    network: Network,
    secrets: Sequence[str],
) -> dict[str, Any]:
    scheme, host = url.scheme.encode(), url.host.encode()
    try:
        with (
            httpcore.HTTPConnection(
                httpcore.Origin(scheme, host, url.port),
                ssl_context=network.tls() if url.scheme == "https" else None,
                network_backend=backend,
            ) as connection,
            connection.stream(
                message.method,
                httpcore.URL(scheme=scheme, host=host, port=url.port, target=url.target.encode()),
                headers=message.headers,
                content=message.content,
            ) as response,
        ):
            return _answer(response.status, response.headers, response.iter_stream(), secrets)
    except httpcore.RemoteProtocolError as error:
        raise FatalError("UNEXPECTED", "the target did not answer in valid HTTP") from error
    except ssl.SSLError as error:
        reason = getattr(error, "verify_message", None) or error.reason or "TLS"
        raise FatalError("UNEXPECTED", f"no trusted connection to the target: {reason}") from error


def _answer(
    status: int,
    headers: Sequence[tuple[bytes, bytes]],
    chunks: Iterable[bytes],
    secrets: Sequence[str],
) -> dict[str, Any]:
    values = {name.decode().lower(): value.decode("latin-1") for name, value in reversed(headers)}
    if not 200 <= status < 300:
        # Its body is not read: it could only be shown, and errors show no stranger's bytes.
        raise _refusal(status, values.get("retry-after"))
    body = read_body(chunks, values.get("content-encoding", "").strip().lower())
    return {
        "status": status,
        "headers": {
            name: redact(values[name], secrets)[:WEBHOOK_HEADER_SHOWN_MAX_CHARS]
            for name in _SHOWN_HEADERS
            if name in values
        },
        "body": body_value(body, values.get("content-type", ""), secrets),
        "bodyTruncated": body.is_cut,
    }


def _refusal(status: int, retry_after: str | None) -> WhenthenError:
    if status == 429 or 500 <= status < 600:
        wait_s = parse_retry_after(retry_after, datetime.now(UTC))
        return RetryableError("WEBHOOK_HTTP_RETRIABLE", f"answered {status}", wait_s)
    hint = "; redirects are not followed" if 300 <= status < 400 else ""
    return FatalError("WEBHOOK_HTTP_ERROR", f"answered {status}{hint}")
