"""The public keys of the identity provider: fetched when needed, kept, and not asked for too often.

Source: OpenID Connect Discovery 1.0, section 4; RFC 7517.
"""

import logging
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable
from typing import Any, Final

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet, RSAKey

from http_api.oidc_fetch import FetchError, fetch_json
from whenthen.domain.errors import UnavailableError

# Kept so long without a look at the issuer; a withdrawn key stops counting by then.
FRESH_S: Final = 3_600
# While the issuer does not answer, the keys it gave last go on counting, but not for ever.
STALE_S: Final = 24 * 3_600
# A token with an unknown key id is free to make: it may cost the issuer a request a minute.
AGAIN_S: Final = 60
# Without any key every JWT fails, so that is not waited out for a whole minute.
AGAIN_WITHOUT_KEYS_S: Final = 5
# Shorter ones can be factored; NIST SP 800-57 part 1 has them end in 2013.
RSA_MIN_BITS: Final = 2_048

_UNUSABLE: Final = (JoseError, ValueError, TypeError, KeyError)
_log = logging.getLogger("whenthen.http_api")


class IssuerKeys:
    """The issuer's signing keys as this process knows them."""

    def __init__(
        self,
        issuer: str,
        fetch: Callable[[str], Any] = fetch_json,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuer = issuer
        self._fetch = fetch
        self._clock = clock
        self._keys = KeySet([])
        self._fetched_s = self._tried_s = float("-inf")

    def key_set(self, *, fresh: bool = False) -> KeySet:
        """Return the keys, asked for again if `fresh` and the last time is a minute ago.

        Raises:
            UnavailableError: there are none that are not too old, and the issuer gives none.

        """
        now_s = self._clock()
        age_s = now_s - self._fetched_s
        again_s = AGAIN_S if self._keys else AGAIN_WITHOUT_KEYS_S
        if (fresh or age_s > FRESH_S) and now_s - self._tried_s >= again_s:
            self._tried_s = now_s
            age_s = self._refreshed_age_s(age_s)
        if age_s > STALE_S:
            raise UnavailableError("the identity provider does not answer")
        return self._keys

    def _refreshed_age_s(self, age_s: float) -> float:
        try:
            self._keys = self._ask()
        except FetchError as error:
            _log.warning("no keys from the identity provider", extra={"reason": str(error)})
            return age_s
        self._fetched_s = self._tried_s
        return 0

    def _ask(self) -> KeySet:
        where = self._issuer.rstrip("/") + "/.well-known/openid-configuration"
        document = self._fetch(where)
        if not isinstance(document, dict) or document.get("issuer") != self._issuer:
            raise FetchError("the discovery document is another issuer's")
        jwks = self._fetch(str(document.get("jwks_uri")))
        entries = jwks.get("keys") if isinstance(jwks, dict) else None
        if not isinstance(entries, list):
            raise FetchError("the key document has no list of keys")
        return KeySet([key for entry in entries if (key := _key(entry)) is not None])


def _key(entry: Any) -> RSAKey | ECKey | None:
    """Return the JWK `entry` if it can check a signature of ours, else None."""
    try:
        match entry["kty"]:
            case "RSA" if _modulus_bits(entry) >= RSA_MIN_BITS:
                return RSAKey.import_key(entry)
            case "EC":
                return ECKey.import_key(entry)
    except _UNUSABLE:
        # One key that we do not understand must not take the others along.
        return None
    return None


def _modulus_bits(entry: Any) -> int:
    # RFC 7518, section 6.3.1: base64url without padding, the most significant byte first.
    return int.from_bytes(urlsafe_b64decode(entry["n"] + "==")).bit_length()
