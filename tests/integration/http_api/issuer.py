"""An identity provider on this machine: discovery, keys, and JWTs of whatever kind a test wants."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey
from joserfc.jws import JWSRegistry

from whenthen.domain import json_text

AUDIENCE = "whenthen"
SigningKey = RSAKey | ECKey | OctKey


class Unchecked(JWSRegistry):
    """Signs whatever header it is given."""

    def check_header(self, header: Any) -> None:
        """Find nothing wrong with it."""


def rsa_key(kid: str, bits: int = 2048) -> RSAKey:
    return RSAKey.generate_key(bits, {"kid": kid, "use": "sig"}, private=True)


def ec_key(kid: str, curve: str = "P-256") -> ECKey:
    return ECKey.generate_key(curve, {"kid": kid, "use": "sig"}, private=True)


@dataclass
class Issuer:
    """`documents` maps a path to what is there: a JSON value, or bytes as they are."""

    url: str
    key: SigningKey
    documents: dict[str, Any] = field(default_factory=dict)
    hits: list[str] = field(default_factory=list)

    def publish(self, *keys: SigningKey, **more: Any) -> None:
        """Show these keys, and nothing else, from now on."""
        self.documents = {
            "/.well-known/openid-configuration": {
                "issuer": self.url,
                "jwks_uri": f"{self.url}/keys",
                **more,
            },
            "/keys": {"keys": [key.as_dict(private=False) for key in keys]},
        }

    def token(
        self,
        *,
        key: SigningKey | None = None,
        alg: str = "RS256",
        header: Mapping[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        """A JWT that is good but for what the arguments say; a claim of None is left out."""
        signing = key or self.key
        now_s = int(time.time())
        usual = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "ada",
            "iat": now_s,
            "exp": now_s + 300,
        }
        held = {name: value for name, value in (usual | claims).items() if value is not None}
        return jwt.encode(
            {"alg": alg, "kid": signing.kid, **(header or {})},
            held,
            signing,
            registry=Unchecked(algorithms=[alg]),
        )


@contextmanager
def running_issuer() -> Iterator[Issuer]:
    """An issuer on a port of the loopback address, with one RSA key."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.hits.append(self.path)
            found = issuer.documents.get(self.path)
            body = found if isinstance(found, bytes) else json_text.dumps(found).encode()
            self.send_response(404 if found is None else 302 if found == "elsewhere" else 200)
            self.send_header("location", f"{issuer.url}/good")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing: the test looks at `hits`."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        issuer = Issuer(f"http://127.0.0.1:{server.server_port}", rsa_key("first"))
        issuer.publish(issuer.key)
        yield issuer
        server.shutdown()
        thread.join()
