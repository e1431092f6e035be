"""Idempotency keys: the second request with a key gets the first one's answer and does nothing.

Key, effect and answer are one transaction. A process that dies in between leaves nothing behind,
so a key is never stuck; a repetition meanwhile waits for the outcome.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from http_api.errors import RepeatedRefusalError, inside_of
from http_api.shown_once import without_shown
from whenthen.domain import json_text
from whenthen.domain.errors import BadRequestError, ConflictError, RequestError
from whenthen.domain.rules.classify import classify_error
from whenthen.store import idempotency_keys
from whenthen.store.idempotency_keys import KeptAnswer, KeyedRequest

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_KEY: Final = re.compile(r"[!-~]{1,255}")
# What a claim gets that has waited for another one as long as a transaction waits for any lock.
_STILL_CLAIMED: Final = "DB_TRANSIENT_55P03"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a route answers, before it is put on the wire: a status and a body.

    The body is a JSON value, a file (`Served`), or None.
    """

    status: int
    body: Any


def key_in(headers: Mapping[str, str]) -> str | None:
    """Return the value of Idempotency-Key; None without one.

    Raises:
        BadRequestError: `BAD_HEADER`, it is not 1 to 255 visible ASCII characters.

    """
    key = headers.get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        message = "Idempotency-Key is 1 to 255 visible ASCII characters"
        raise BadRequestError("BAD_HEADER", message)
    return key


def keyed_request(user_id: UUID, path: str, key: str, body: bytes) -> KeyedRequest:
    """Return what tells a POST to `path` from all others of this person."""
    name = f"POST\n{path}\n{key}".encode("utf-8", "surrogatepass")
    return KeyedRequest(user_id, hashlib.sha256(name).digest(), hashlib.sha256(body).digest())


def answer_once(
    connection: "Connection",
    request: KeyedRequest,
    answer: Callable[[], Answer],
    check_access: Callable[[], object],
) -> Answer | RequestError:
    """Return the answer kept for `request`, else the one that `answer` gives, kept from now on.

    A refusal is returned, not raised: it has to be committed, without what came before it. What is
    kept is shown only if `check_access` does not raise: who may no longer see it does not.

    Raises:
        ConflictError: `IDEMPOTENCY_CONFLICT`, the key was used with another body;
            `IDEMPOTENCY_IN_PROGRESS`, the first request with it has not ended in time.
        RepeatedRefusalError: the kept answer is a refusal.

    """
    kept = _claim(connection, request)
    if kept is not None:
        check_access()
        return _repeated(kept, request)
    try:
        with connection.begin_nested():
            given = answer()
    except RequestError as refusal:
        if refusal.status >= 500:
            raise
        text = json_text.dumps(inside_of(refusal))
        idempotency_keys.keep(connection, request, refusal.status, text)
        return refusal
    body = None if given.body is None else json_text.dumps(without_shown(given.body))
    idempotency_keys.keep(connection, request, given.status, body)
    return given


def _claim(connection: "Connection", request: KeyedRequest) -> KeptAnswer | None:
    try:
        return idempotency_keys.claim(connection, request)
    except Exception as error:
        if classify_error(error).code != _STILL_CLAIMED:
            raise
        message = "the first request with this key has not ended yet"
        raise ConflictError("IDEMPOTENCY_IN_PROGRESS", message) from error


def _repeated(kept: KeptAnswer, request: KeyedRequest) -> Answer:
    if kept.body_hash != request.body_hash:
        message = "the key was used for another body"
        raise ConflictError("IDEMPOTENCY_CONFLICT", message)
    body: Any = json_text.loads_stored(kept.response or "null")
    if kept.status >= 400:
        raise RepeatedRefusalError(kept.status, body)
    return Answer(kept.status, body)
