"""What the console is told of the identity provider, and which origins it may call there."""

import re
import time
from collections.abc import Callable
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from http_api.oidc_fetch import FetchError, fetch_json
from whenthen.domain import json_text
from whenthen.domain.rules.secure_url import is_secure_url

if TYPE_CHECKING:
    from whenthen.settings import Settings

# Whoever has seen the discovery document need not look again so soon, nor who has not seen it.
FRESH_S: Final = 3_600
AGAIN_S: Final = 60
# Where index.html has room for the provider.
PROVIDER_MARK: Final = 'name="oidc" content=""'
# Nothing that a policy would read as more than one host.
_AUTHORITY: Final = re.compile(r"[A-Za-z0-9.:\[\]-]+")


class ProviderOrigins:
    """Where the console's requests to the provider go.

    Its token endpoint is often elsewhere than its issuer: Amazon Cognito's is on a domain of the
    user pool. Only the discovery document says where.
    """

    def __init__(
        self,
        issuer: str,
        fetch: Callable[[str], Any] = fetch_json,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuer = issuer
        self._fetch = fetch
        self._clock = clock
        self._token_endpoint = ""
        self._due_s = float("-inf")

    def origins(self) -> list[str]:
        """Return the origins, each once; the issuer's alone while its document cannot be had."""
        now_s = self._clock()
        if now_s >= self._due_s:
            # First, for whoever comes meanwhile, and for a look that never returns.
            self._due_s = now_s + AGAIN_S
            if self._look():
                self._due_s = now_s + FRESH_S
        found = (origin_of(url) for url in (self._issuer, self._token_endpoint))
        return sorted({origin for origin in found if origin is not None})

    def _look(self) -> bool:
        where = self._issuer.rstrip("/") + "/.well-known/openid-configuration"
        try:
            document = self._fetch(where)
        except FetchError:
            return False
        if not isinstance(document, dict) or document.get("issuer") != self._issuer:
            return False
        self._token_endpoint = str(document.get("token_endpoint"))
        return True


def origin_of(url: str) -> str | None:
    """Return the origin of an https URL as a policy names it: `https://id.example.com`."""
    if not is_secure_url(url):
        return None
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if _AUTHORITY.fullmatch(parts.netloc) else None


def provider_in(index: str, settings: "Settings") -> str:
    """Return `index` with what the console signs people in with."""
    provider = {
        "issuer": settings.oidc_issuer,
        "clientId": settings.oidc_client_id,
        "audience": settings.oidc_audience,
    }
    told = escape(json_text.dumps(provider))
    return index.replace(PROVIDER_MARK, f'name="oidc" content="{told}"')


@cache
def origins_for(issuer: str) -> ProviderOrigins:
    """Return what this process knows of `issuer`."""
    return ProviderOrigins(issuer)
