"""What a request can show for who sends it: a token of ours, or what an issuer vouches for."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ApiToken:
    """An API token by the digest that is stored of it; whether it is good, the store knows."""

    digest: bytes


@dataclass(frozen=True, slots=True)
class OidcIdentity:
    """The person of a JWT whose signature and claims have been checked.

    `email` is there only if the issuer has verified it: an address that anybody can claim finds
    nobody.
    """

    issuer: str
    subject: str
    email: str | None = None
    name: str | None = None


Credential = ApiToken | OidcIdentity
