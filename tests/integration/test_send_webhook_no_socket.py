"""Refused addresses with the machine's own resolver and sockets: nothing is connected to, at all.

What `test_send_webhook_addresses.py` shows through a network of its own is shown here without one:
listeners of both families stand where loopback leads, and Python's audit tells of each connection.
"""

import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.integration.test_send_webhook_addresses import SPELLINGS
from tests.integration.webhook_target import Target, respond, webhook
from whenthen.actions.send_webhook import perform
from whenthen.domain.errors import FatalError

# "P" is the listeners' port.
URLS = [
    *(
        f"{scheme}://{host}:P/"
        for hosts in SPELLINGS.values()
        for host in hosts
        for scheme in ("http", "https")
    ),
    # Who is asked depends on who reads it.
    "http://93.184.216.34@127.0.0.1:P/",
    "http://93.184.216.34:80@127.0.0.1:P/",
    "http://127.0.0.1:P@93.184.216.34/",
    "http://user:password@127.0.0.1:P/",
    "http://@127.0.0.1:P/",
    "http://127.0.0.1:P\\@93.184.216.34/",
    "http://93.184.216.34\\@127.0.0.1:P/",
    "http:\\\\127.0.0.1:P/",
    "http:/127.0.0.1:P/",
    "http:127.0.0.1:P/",
    "http:///127.0.0.1:P/",
    "//127.0.0.1:P/",
    "127.0.0.1:P",
    "http://127.0.0.1 :P/",
    "http://127.0.0.1\t:P/",
    "http://127.0.0.1:P#@93.184.216.34/",
    "http://127.0.0.1:P?@93.184.216.34/",
    # Escapes within the host.
    "http://127%2e0%2e0%2e1:P/",
    "http://%31%32%37.0.0.1:P/",
    "http://localhos%74:P/",
    "http://[%3a%3a1]:P/",
    "http://[::1%25lo]:P/",
    "http://[::1%lo]:P/",
    "http://[::1:P/",
    "http://::1:P/",
    "http://[v1.127.0.0.1]:P/",
    "http://[127.0.0.1]:P/",
    "http://[::127.0.0.1]:P/",
    "http://[0000:0000:0000:0000:0000:ffff:7f00:0001]:P/",
    "http://[2002:7f00:0001:0:0:0:0:1]:P/",
    # Dots.
    "http://.127.0.0.1:P/",
    "http://127.0.0.1..:P/",
    "http://127..0.0.1:P/",
    "http://localhost..:P/",
    # Digits and dots of other scripts, and characters that vanish.
    "http://\u0661\u0662\u0667.\u0660.\u0660.\u0661:P/",
    "http://\u0967\u0968\u096d.\u0966.\u0966.\u0967:P/",
    "http://\U0001d7cf\U0001d7d0\U0001d7d5.\U0001d7ce.\U0001d7ce.\U0001d7cf:P/",
    "http://¹²⁷.₀.₀.¹:P/",
    "http://127\u200b.0.0.1:P/",
    "http://127\u00ad.0.0.1:P/",
    "http://loc\u00adalhost:P/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:P/",
    "http://\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54:P/",
    "http://127\uff0e0\uff0e0\uff0e1:P/",
    "http://127\uff610\uff610\uff611:P/",
    # Numbers out of their range, which some readers take modulo.
    "http://4294967297:P/",
    "http://383.0.0.1:P/",
    "http://0x17f000001:P/",
    "http://00000177.0.0.1:P/",
    "http://127.0x000000001:P/",
    # Ports and schemes.
    "http://127.0.0.1:0/",
    "http://127.0.0.1:22/",
    "http://127.0.0.1:65536/",
    "http://127.0.0.1:-1/",
    "ws://127.0.0.1:P/",
    "ftp://127.0.0.1:P/",
    "gopher://127.0.0.1:P/_x",
    "unix:///var/run/docker.sock",
    "javascript:alert(1)",
]


class Connections:
    """What this process connects to while `looking`: an audit hook cannot be taken away again."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.looking = False
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.looking and event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
            family = arguments[0].family
            if family in {socket.AF_INET, socket.AF_INET6}:
                self.seen.append((event, arguments[1:]))


@pytest.fixture(scope="module")
def connections() -> Connections:
    return Connections()


@pytest.fixture
def listeners() -> Iterator[list[socket.socket]]:
    """Listeners on every address of the machine, of both families, at one port."""
    with ExitStack() as stack:
        four = stack.enter_context(socket.create_server(("", 0)))
        port = four.getsockname()[1]
        six = stack.enter_context(
            socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=False)
        )
        for listener in (four, six):
            listener.settimeout(0)
        yield [four, six]


def test_case_091_no_url_that_leads_inside_opens_a_socket(
    connections: Connections, listeners: list[socket.socket]
) -> None:
    port = str(listeners[0].getsockname()[1])
    called: list[str] = []
    connections.seen.clear()
    connections.looking = True
    try:
        for url in URLS:
            try:
                perform(webhook(url.replace("P", port), allow="", timeout_s=5))
            except FatalError as refusal:
                if refusal.code == "WEBHOOK_URL_FORBIDDEN" or "resolve" in refusal.message:
                    continue
            called.append(url)
    finally:
        connections.looking = False
    assert called == []
    assert connections.seen == []
    for listener in listeners:
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_what_looks_would_see_a_connection(connections: Connections) -> None:
    target = Target()
    connections.seen.clear()
    connections.looking = True
    try:
        perform(webhook(target.on("/", respond(200))))
    finally:
        connections.looking = False
    target.wait_until_idle()
    target.close()
    assert [(event, address) for event, (address,) in connections.seen] == [
        ("socket.connect", ("127.0.0.1", target.port))
    ]
