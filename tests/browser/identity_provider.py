"""An identity provider that the browser can visit: authorization code with PKCE, and renewal."""

import base64
import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import uuid4

from tests.integration.http_api.issuer import AUDIENCE, Issuer, rsa_key
from whenthen.domain import json_text

OWNER_EMAIL = "owner@demo.test"


@dataclass
class IdentityProvider:
    """Whoever comes is signed in at once, as the demo's OWNER; `spoil` changes what is answered."""

    issuer: Issuer
    # By code: what was asked for with it.
    asked: dict[str, dict[str, str]] = field(default_factory=dict)
    grants: list[dict[str, str]] = field(default_factory=list)
    # Parts of the answer to a sign-in, and claims, that are other than they should be.
    spoil: dict[str, str] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    lifetime_s: int = 300

    @property
    def settings(self) -> dict[str, str]:
        return {
            "OIDC_ISSUER": self.issuer.url,
            "OIDC_AUDIENCE": AUDIENCE,
            "OIDC_CLIENT_ID": AUDIENCE,
        }

    def document(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer.url,
            "jwks_uri": f"{self.issuer.url}/keys",
            "authorization_endpoint": f"{self.issuer.url}/authorize?tenant=a",
            "token_endpoint": f"{self.issuer.url}/token",
        }

    def authorize(self, query: dict[str, str]) -> str:
        """Where the browser is sent back to."""
        code = uuid4().hex
        self.asked[code] = query
        answer = {"code": code, "state": query["state"], "iss": self.issuer.url, **self.spoil}
        return f"{query['redirect_uri']}?{urlencode(answer)}"

    def token(self, form: dict[str, str]) -> tuple[int, Any]:
        """The answer of the token endpoint: status and JSON."""
        self.grants.append(form)
        if form["grant_type"] == "refresh_token":
            return 200, self._tokens({})
        asked = self.asked.pop(form["code"], None)
        challenge = hashlib.sha256(form["code_verifier"].encode()).digest()
        fits = asked is not None and (
            asked["code_challenge_method"],
            asked["code_challenge"],
            asked["redirect_uri"],
            asked["client_id"],
        ) == (
            "S256",
            base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            form["redirect_uri"],
            form["client_id"],
        )
        if asked is None or not fits:
            return 400, {"error": "invalid_grant"}
        return 200, self._tokens({"nonce": asked["nonce"]})

    def _tokens(self, claims: dict[str, Any]) -> dict[str, Any]:
        now_s = int(time.time())
        person = {"email": OWNER_EMAIL, "email_verified": True, "exp": now_s + self.lifetime_s}
        token = self.issuer.token(**{**person, **claims, **self.claims})
        return {"id_token": token, "access_token": "opaque", "refresh_token": uuid4().hex}


@contextmanager
def running_provider() -> Iterator[IdentityProvider]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            if url.path == "/authorize":
                self.send_response(302)
                self.send_header("location", provider.authorize(single(url.query)))
                self.send_header("content-length", "0")
                self.end_headers()
            elif url.path == "/keys":
                self._answer(200, {"keys": [provider.issuer.key.as_dict(private=False)]})
            else:
                self._answer(200, provider.document())

        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            self._answer(*provider.token(single(self.rfile.read(length).decode())))

        def _answer(self, status: int, value: Any) -> None:
            body = json_text.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("access-control-allow-origin", "*")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        issuer = Issuer(f"http://127.0.0.1:{server.server_port}", rsa_key("first"))
        provider = IdentityProvider(issuer)
        yield provider
        server.shutdown()
        thread.join()


def single(query: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(query).items()}
