"""The issuer's keys over time: the clock is an argument, and so is the way to the issuer."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from joserfc.jwk import ECKey, OctKey, RSAKey

from http_api.oidc_fetch import FetchError
from http_api.oidc_keys import (
    AGAIN_S,
    AGAIN_WITHOUT_KEYS_S,
    FRESH_S,
    STALE_S,
    IssuerKeys,
)
from whenthen.domain.errors import UnavailableError

URL = "https://id.example.com"
EC_JWK: dict[str, Any] = {**ECKey.generate_key("P-256").as_dict(private=False), "kid": "a"}


@dataclass
class Provider:
    """Answers like an issuer; `keys` None is one that is down."""

    keys: Any = field(default_factory=lambda: [EC_JWK])
    discovery: Any = field(default_factory=lambda: {"issuer": URL, "jwks_uri": f"{URL}/keys"})
    now_s: float = 1_000.0
    asked: int = 0

    def fetch(self, url: str) -> Any:
        if url.endswith("/.well-known/openid-configuration"):
            self.asked += 1
            return self.discovery
        if self.keys is None:
            raise FetchError("down")
        return {"keys": self.keys}

    def issuer_keys(self) -> IssuerKeys:
        return IssuerKeys(URL, self.fetch, lambda: self.now_s)


def kids(keys: IssuerKeys, *, fresh: bool = False) -> list[str | None]:
    return [key.kid for key in keys.key_set(fresh=fresh)]


def test_keys_are_kept_for_an_hour_and_then_asked_for_again() -> None:
    provider = Provider()
    keys = provider.issuer_keys()
    assert (kids(keys), provider.asked) == (["a"], 1)
    provider.now_s += FRESH_S
    assert (kids(keys), provider.asked) == (["a"], 1)
    provider.now_s += 1
    provider.keys = [{**EC_JWK, "kid": "b"}]
    assert (kids(keys), provider.asked) == (["b"], 2)


def test_fresh_keys_are_asked_for_at_most_once_a_minute() -> None:
    provider = Provider()
    keys = provider.issuer_keys()
    kids(keys)
    provider.now_s += AGAIN_S - 1
    assert (kids(keys, fresh=True), provider.asked) == (["a"], 1)
    provider.now_s += 1
    assert (kids(keys, fresh=True), provider.asked) == (["a"], 2)
    assert (kids(keys, fresh=True), provider.asked) == (["a"], 2)


def test_an_issuer_that_is_down_is_bridged_for_a_day() -> None:
    provider = Provider()
    keys = provider.issuer_keys()
    kids(keys)
    provider.keys = None
    provider.now_s += STALE_S
    assert kids(keys) == ["a"]
    provider.now_s += AGAIN_S
    with pytest.raises(UnavailableError):
        keys.key_set()
    provider.keys = [EC_JWK]
    provider.now_s += AGAIN_S
    assert kids(keys) == ["a"]


def test_without_any_keys_the_issuer_is_asked_again_soon() -> None:
    provider = Provider(keys=None)
    keys = provider.issuer_keys()
    for expected in (1, 1, 2):
        with pytest.raises(UnavailableError):
            keys.key_set()
        assert provider.asked == expected
        provider.now_s += AGAIN_WITHOUT_KEYS_S / 2
    provider.keys = [EC_JWK]
    provider.now_s += AGAIN_WITHOUT_KEYS_S
    assert kids(keys) == ["a"]


@pytest.mark.parametrize(
    "discovery",
    [
        None,
        [],
        {},
        {"issuer": "https://evil.example.com", "jwks_uri": f"{URL}/keys"},
        {"issuer": f"{URL}/", "jwks_uri": f"{URL}/keys"},
    ],
)
def test_a_document_of_another_issuer_is_not_believed(discovery: Any) -> None:
    with pytest.raises(UnavailableError):
        Provider(discovery=discovery).issuer_keys().key_set()


@pytest.mark.parametrize("keys", [{}, 7, "x", None])
def test_a_key_document_without_a_list_is_none(keys: Any) -> None:
    with pytest.raises(UnavailableError):
        Provider(keys=keys).issuer_keys().key_set()


def jwk(key: RSAKey | ECKey | OctKey, **more: Any) -> dict[str, Any]:
    return {**key.as_dict(private=isinstance(key, OctKey)), **more}


def test_keys_that_are_of_no_use_do_not_take_the_others_along() -> None:
    entries: list[Any] = [
        None,
        7,
        {},
        {"kty": "lattice", "kid": "new"},
        {"kty": "EC", "crv": "no curve", "x": "AA", "y": "AA", "kid": "bad"},
        {"kty": "RSA", "n": 7, "e": "AQAB", "kid": "bad too"},
        jwk(OctKey.generate_key(256), kid="shared"),
        {"kty": "RSA", "n": "7" * 171, "e": "AQAB", "kid": "1,024 bits"},
        jwk(RSAKey.generate_key(2048), kid="strong"),
        EC_JWK,
    ]
    assert kids(Provider(keys=entries).issuer_keys()) == ["strong", "a"]
