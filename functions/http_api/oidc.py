"""Who a JWT of the configured issuer is about: its signature and claims, checked.

Imported on first use: joserfc brings cryptography along.
"""

import logging
from typing import Any, Final

from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jws import JWSRegistry
from joserfc.jwt import JWTClaimsRegistry

from http_api.oidc_keys import IssuerKeys
from whenthen.domain.credentials import OidcIdentity
from whenthen.domain.errors import UnauthenticatedError
from whenthen.domain.rules.mail_address import is_mail_address
from whenthen.domain.rules.text_hygiene import clean

# `none` and the HS family are absent: a public key must never serve as a shared secret.
ALGORITHMS: Final = ("RS256", "ES256")
# Seconds that the issuer's clock and ours may differ.
LEEWAY_S: Final = 60
# OpenID Connect Core, section 2: "sub … MUST NOT exceed 255 ASCII characters".
SUBJECT_MAX_CHARS: Final = 255
NAME_MAX_CHARS: Final = 200

# What hostile tokens make of the decoder beside its own errors: a header of the wrong shape.
_UNREADABLE: Final = (JoseError, ValueError, TypeError, KeyError, AttributeError)
_log = logging.getLogger("whenthen.http_api")


class Oidc:
    """The one issuer whose JWTs are credentials, for one audience."""

    def __init__(self, issuer: str, audience: str, keys: IssuerKeys | None = None) -> None:
        self._issuer = issuer
        self._keys = keys or IssuerKeys(issuer)
        # Header parameters that nobody calls critical are the issuer's own affair.
        self._registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        self._claims = JWTClaimsRegistry(
            leeway=LEEWAY_S,
            iss={"essential": True, "value": issuer},
            aud={"essential": True, "value": audience},
            exp={"essential": True},
            sub={"essential": True},
        )

    def identity_of(self, token: str) -> OidcIdentity:
        """Return the person that `token` vouches for.

        Raises:
            UnauthenticatedError: not signed by a key of the issuer, expired, not valid yet, for
                another audience, or without a subject.
            UnavailableError: the issuer's keys cannot be had.

        """
        try:
            claims = self._verified(token)
            self._claims.validate(claims)
        except _UNREADABLE as error:
            # Which check failed helps whoever set the issuer up; a stranger is not told.
            _log.info("JWT refused", extra={"reason": type(error).__name__})
            raise _refused() from error
        return self._identity(claims)

    def _verified(self, token: str) -> dict[str, Any]:
        try:
            return self._decoded(token, fresh=False)
        except InvalidKeyIdError:
            # Perhaps a key of which we have not heard yet.
            return self._decoded(token, fresh=True)

    def _decoded(self, token: str, *, fresh: bool) -> dict[str, Any]:
        keys = self._keys.key_set(fresh=fresh)
        return jwt.decode(token, keys, algorithms=ALGORITHMS, registry=self._registry).claims

    def _identity(self, claims: dict[str, Any]) -> OidcIdentity:
        subject, unfit = clean(claims["sub"])
        if unfit or not 1 <= len(subject) <= SUBJECT_MAX_CHARS:
            raise _refused()
        return OidcIdentity(self._issuer, subject, _verified_email(claims), _name(claims))


def _verified_email(claims: dict[str, Any]) -> str | None:
    email = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(email, str):
        return None
    return email if is_mail_address(email) and not clean(email)[1] else None


def _name(claims: dict[str, Any]) -> str | None:
    name = claims.get("name")
    return clean(name)[0][:NAME_MAX_CHARS] or None if isinstance(name, str) else None


def _refused() -> UnauthenticatedError:
    return UnauthenticatedError("UNAUTHENTICATED", "the token is not valid")
