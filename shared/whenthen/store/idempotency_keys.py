"""Answers by idempotency key: the row is claimed before the work, in the work's transaction."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.engine import Connection


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request by the digests of what it must share with its repetitions.

    `digest` is that of method, path and key, `body_hash` that of the body's bytes.
    """

    user_id: UUID
    digest: bytes
    body_hash: bytes


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """The answer that was given first; `response` is its JSON text, None for none."""

    status: int
    response: str | None
    body_hash: bytes


def claim(connection: Connection, request: KeyedRequest) -> KeptAnswer | None:
    """Return the answer that is kept under the key; None when the caller has to find it now.

    None leaves a row behind that no other request gets past before this transaction ends: a
    repetition waits at its own claim, for as long as the transaction's lock timeout. If this
    transaction rolls back, or its process dies, the repetition does the work instead.
    """
    if connection.execute(_CLAIM, _claim_values(request)).one_or_none():
        return None
    # A statement of its own: only its snapshot sees the row that the claim ran into.
    values = {"user_id": request.user_id, "digest": request.digest}
    return KeptAnswer(**connection.execute(_KEPT, values).mappings().one())


# A day later the key is free again, whether or not retention has come by.
_CLAIM = text(
    """
    insert into idempotency_keys as k (user_id, digest, body_hash)
    values (:user_id, :digest, :body_hash)
    on conflict (user_id, digest) do update
    set body_hash = excluded.body_hash, status = null, response = null,
        created_at = whenthen_now()
    where k.created_at <= whenthen_now() - interval '24 hours'
    returning 1
    """
)
_KEPT = text(
    """
    select status, response, body_hash from idempotency_keys
    where user_id = :user_id and digest = :digest
    """
)


def keep(connection: Connection, request: KeyedRequest, status: int, response: str | None) -> None:
    """Write the answer into the row that `claim` left behind."""
    values = {
        "user_id": request.user_id,
        "digest": request.digest,
        "status": status,
        "response": response,
    }
    connection.execute(_KEEP, values)


_KEEP = text(
    """
    update idempotency_keys set status = :status, response = cast(:response as text)
    where user_id = :user_id and digest = :digest
    """
)


def _claim_values(request: KeyedRequest) -> dict[str, object]:
    return {
        "user_id": request.user_id,
        "digest": request.digest,
        "body_hash": request.body_hash,
    }
