"""The credential of a request: a bearer token, ours or the identity provider's."""

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from whenthen.domain.credentials import ApiToken, Credential
from whenthen.domain.errors import UnauthenticatedError
from whenthen.store.tenants import hash_of

if TYPE_CHECKING:
    from http_api.oidc import Oidc
    from whenthen.settings import Settings

# A JWT that lists somebody's groups is long; API Gateway takes 10,240 bytes of headers in all.
_BEARER: Final = re.compile(r"(?i:bearer) +([!-~]{1,8192})")


def credential_of(settings: "Settings", headers: Mapping[str, str]) -> Credential:
    """Return what the request shows for its sender; header names are in lower case.

    Raises:
        UnauthenticatedError: there is nothing, or it is a JWT that is not good.
        UnavailableError: the identity provider's keys cannot be had.

    """
    token = bearer_token(headers)
    # A token of ours holds no dot.
    if settings.oidc_issuer and settings.oidc_audience and token.count(".") == 2:
        return _oidc(settings.oidc_issuer, settings.oidc_audience).identity_of(token)
    return ApiToken(hash_of(token))


def bearer_token(headers: Mapping[str, str]) -> str:
    """Return the bearer token among `headers`, whose names are in lower case.

    Raises:
        UnauthenticatedError: there is none, or the header reads otherwise.

    """
    found = _BEARER.fullmatch(headers.get("authorization", "").strip())
    if found is None:
        raise UnauthenticatedError("UNAUTHENTICATED", "send Authorization: Bearer with a token")
    return found[1]


@cache
def _oidc(issuer: str, audience: str) -> "Oidc":
    # 150 ms of import, most of it cryptography: only deployments with an issuer pay for it.
    from http_api.oidc import Oidc  # noqa: PLC0415

    return Oidc(issuer, audience)
