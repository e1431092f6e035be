"""Where the soak's webhooks go: real HTTP on loopback, with moods, and a book of its answers."""

import random
import socket
import threading
from collections import Counter
from dataclasses import dataclass, field

from tests.integration.webhook_target import Behaviour, Hit, Target, hang, respond

# Of a moody target's answers: the share that is a 500, a 503, and the share that takes its time.
_SHARE_500 = 0.1
_SHARE_503 = 0.2
_SHARE_SLOW = 0.3
_SLOW_S = 0.25


@dataclass
class Moods:
    """A target with one path per temper: `/ok`, `/moody`, `/down`, `/refuses`, `/sleeps`."""

    draw: random.Random
    # How often each webhook-id came, and how often it was answered with a 200.
    hits: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self.target = Target()
        for path, behave in {
            "/ok": respond(200, '{"ok": true}', content_type="application/json"),
            "/moody": self._moody,
            "/down": respond(500),
            "/refuses": respond(404),
            "/sleeps": hang,
        }.items():
            self.target.on(path, self._booked(behave))

    def url(self, mood: str) -> str:
        return f"{self.target.url}/{mood}"

    def _booked(self, behave: Behaviour) -> Behaviour:
        def booked(connection: socket.socket, hit: Hit) -> None:
            with self._lock:
                self.hits[hit.headers["webhook-id"]] += 1
                self.kept[hit.headers["webhook-id"]] += hit.target == "/ok"
            behave(connection, hit)

        return booked

    def _moody(self, connection: socket.socket, hit: Hit) -> None:
        with self._lock:
            mood = self.draw.random()
            self.kept[hit.headers["webhook-id"]] += mood >= _SHARE_503
        if mood < _SHARE_500:
            respond(500)(connection, hit)
        elif mood < _SHARE_503:
            respond(503, retry_after="2")(connection, hit)
        else:
            if mood < _SHARE_SLOW:
                threading.Event().wait(_SLOW_S)
            respond(200, "thanks")(connection, hit)
