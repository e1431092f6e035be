"""Whether a credential may make one more request this minute."""

import hashlib
from math import ceil
from typing import TYPE_CHECKING

from whenthen.domain.credentials import ApiToken, Credential
from whenthen.domain.errors import RateLimitedError
from whenthen.store import request_counts

if TYPE_CHECKING:
    from whenthen.engine.context import Context


def limit_requests(context: "Context", credential: Credential) -> None:
    """Count a request, in a transaction of its own: one that fails counts as well.

    Raises:
        RateLimitedError: the credential has had its API_REQUESTS_PER_MINUTE.

    """
    limit = context.settings.api_requests_per_minute
    if limit == 0:
        return
    digest, verified = _digest(credential)
    counted = context.database.transact(
        lambda connection: request_counts.count(connection, digest, verified=verified)
    )
    if counted is not None and counted.n > limit:
        raise RateLimitedError(max(1, ceil(counted.left_s)))


def _digest(credential: Credential) -> tuple[bytes, bool]:
    if isinstance(credential, ApiToken):
        return credential.digest, False
    # Of the person, not of the JWT: those are replaced every few minutes.
    person = f"{credential.issuer}\n{credential.subject}"
    return hashlib.sha256(person.encode()).digest(), True
