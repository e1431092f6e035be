"""Where webhooks may go: no socket is opened to a refused address, and none to an unchecked one."""

import errno
import socket
import ssl
import threading
from collections.abc import Iterator, Sequence

import pytest

from tests.integration.certificates import Certificates
from tests.integration.webhook_target import Target, Wire, respond, took, webhook
from whenthen.actions.resolving import system_addresses
from whenthen.actions.send_webhook import Network, perform, trusted_authorities
from whenthen.domain.errors import ActionTimeoutError, FatalError, RetryableError
from whenthen.domain.rules.classify import classify_error

PUBLIC = "93.184.216.34"
PUBLIC_TOO = "93.184.216.35"
PUBLIC_6 = "2606:2800:220:1:248:1893:25c8:1946"
METADATA = "169.254.169.254"


@pytest.fixture
def target() -> Iterator[Target]:
    made = Target()
    made.on("/", respond(200, "ok"))
    yield made
    made.wait_until_idle()
    made.close()


@pytest.fixture
def wire(target: Target) -> Wire:
    return Wire(target)


SPELLINGS = {
    "case_091": [
        "[::ffff:169.254.169.254]",
        "[::ffff:127.0.0.1]",
        "[::]",
        "0.0.0.0",  # noqa: S104
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "0251.0376.0251.0376",
        "①②⑦.0.0.1",
        "169.254.169.254.",
        "localhost.",
        "[fd00:ec2::254]",
        "localhost",
        "LOCALHOST",
        "127.0.0.1",
        "127.0.0.1.",
        "127.255.255.254",
        "127.0.1",
        "0x7f.1",
        "017700000001",
        "0",
        "0.0",
        "10.0.0.1",
        "0xa.0.0.1",
        "10.1",
        "172.16.5.4",
        "192.168.0.1",
        "192.168.257",
        "3232235521",
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "0xA9.0xFE.0xA9.0xFE",
        "169.254.43518",
        "127。0。0。1",
        "\uff11\uff12\uff17.0.0.1",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:7f00:1]",
        "[::ffff:0:127.0.0.1]",
        "[fe80::1]",
        "[fd12:3456::1]",
    ],
    "case_092": [
        "100.64.0.1",
        "[64:ff9b::a9fe:a9fe]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b:1::a9fe:a9fe]",
        "[2002:a9fe:a9fe::]",
        "[2002:7f00:1::]",
        "[2001:0:5db8:d822::1]",
        "224.0.0.1",
        "[ff02::1]",
        "[fec0::1]",
        "[::7f00:1]",
        "192.0.0.1",
        "198.18.0.1",
        "192.0.2.1",
        "203.0.113.9",
        "240.0.0.1",
        "255.255.255.255",
        "[2001:db8::1]",
    ],
}
REFUSED = [
    pytest.param(host, id=f"{case}-{host}") for case, hosts in SPELLINGS.items() for host in hosts
]


def refuse(wire: Wire, url: str, allow: str = "") -> None:
    with pytest.raises(FatalError) as caught:
        perform(webhook(url, allow=allow), wire.network())
    assert (caught.value.code, caught.value.message) == (
        "WEBHOOK_URL_FORBIDDEN",
        "the URL is not one that webhooks may call",
    )
    assert (wire.dialled, wire.target.accepted) == ([], 0)


@pytest.mark.parametrize("host", REFUSED)
def test_no_spelling_of_an_inner_address_opens_a_socket(wire: Wire, host: str) -> None:
    refuse(wire, f"http://{host}:{wire.target.port}/")


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "localhost", "[::1]"])
def test_nor_does_one_with_the_machines_own_network(target: Target, host: str) -> None:
    with pytest.raises(FatalError) as caught:
        perform(webhook(f"http://{host}:{target.port}/", allow=""))
    assert caught.value.code == "WEBHOOK_URL_FORBIDDEN"
    assert target.accepted == 0


@pytest.mark.parametrize(
    "url",
    [
        pytest.param(url, id=f"case_096-{url}")
        for url in [
            "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next",
            "http://169.254.170.2/",
            "http://169.254.169.254/latest/meta-data/",
            "http://[::1]:5432",
            "ftp://93.184.216.34/",
            "file:///etc/passwd",
            "gopher://93.184.216.34:70/_x",
            "https://user:pw@93.184.216.34/",
            "http://93.184.216.34:22/",
            "http://93.184.216.34:25/",
            "http://database.inner.example/",
        ]
    ],
)
def test_whatever_refuses_it_the_message_is_the_same(wire: Wire, url: str) -> None:
    wire.names["database.inner.example"] = [["10.0.3.7"]]
    refuse(wire, url)


@pytest.mark.parametrize(
    "url", [12, ["http://93.184.216.34/"], {"a": 1}, "", "http://93.184.216.34\n.x/"]
)
def test_a_filled_in_url_that_is_none_is_refused(wire: Wire, url: object) -> None:
    with pytest.raises(FatalError) as caught:
        perform(webhook(url), wire.network())
    assert caught.value.code == "WEBHOOK_URL_FORBIDDEN"
    assert wire.asked == []


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [METADATA],
        [PUBLIC, METADATA],
        [METADATA, PUBLIC],
        [*[PUBLIC] * 50, "10.0.0.1", *[PUBLIC] * 50],
        [PUBLIC, "::1"],
        [PUBLIC, PUBLIC_6, "fd00:ec2::254"],
        [PUBLIC_6, "127.0.0.1"],
        [PUBLIC, "::ffff:10.0.0.1"],
        [PUBLIC, "64:ff9b::10.0.0.1"],
        [PUBLIC, "fe80::1%eth0"],
        [PUBLIC, "not an address"],
    ],
    ids=str,
)
def test_one_inner_address_among_many_refuses_them_all(wire: Wire, answers: list[str]) -> None:
    wire.names["hooks.example"] = [answers]
    refuse(wire, "http://hooks.example/")


@pytest.mark.parametrize(
    ("answers", "dialled"),
    [
        ([PUBLIC], PUBLIC),
        ([PUBLIC_6], PUBLIC_6),
        ([PUBLIC_6, PUBLIC], PUBLIC),
        ([PUBLIC_6, PUBLIC_TOO, PUBLIC], PUBLIC_TOO),
        (["64:ff9b::5db8:d822"], "64:ff9b::5db8:d822"),
        (["::ffff:93.184.216.34", PUBLIC], PUBLIC),
    ],
    ids=str,
)
def test_a_public_name_is_called_at_its_address_ipv4_first_under_its_own_name(
    wire: Wire, answers: list[str], dialled: str
) -> None:
    wire.names["hooks.example"] = [answers]
    perform(webhook("http://hooks.example:8080/"), wire.network())
    assert wire.dialled == [(dialled, 8080)]
    assert [hit.headers["host"] for hit in wire.target.hits] == ["hooks.example:8080"]


def test_case_093_the_checked_address_is_called_and_the_name_is_asked_once(wire: Wire) -> None:
    wire.names["hooks.example"] = [[PUBLIC], [METADATA]]
    perform(webhook("http://hooks.example/"), wire.network())
    assert (wire.asked, wire.dialled) == (["hooks.example"], [(PUBLIC, 80)])


def test_case_093_each_attempt_checks_anew(wire: Wire) -> None:
    wire.target.on("/", respond(503))
    wire.names["hooks.example"] = [[PUBLIC], [METADATA]]
    request = webhook("http://hooks.example/")
    with pytest.raises(RetryableError):
        perform(request, wire.network())
    with pytest.raises(FatalError) as caught:
        perform(request, wire.network())
    assert caught.value.code == "WEBHOOK_URL_FORBIDDEN"
    assert wire.dialled == [(PUBLIC, 80)]


@pytest.mark.parametrize(
    ("host", "allow"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("LocalHost", "other.example, localhost"),
        ("inner.example", "INNER.example"),
        ("[::1]", "[::1]"),
        ("[::1]", "::1"),
    ],
)
def test_an_allowed_host_is_called_wherever_it_leads(wire: Wire, host: str, allow: str) -> None:
    wire.names["inner.example"] = [["10.0.0.1"]]
    perform(webhook(f"http://{host}:22/", allow=allow), wire.network())
    assert len(wire.target.hits) == 1


@pytest.mark.parametrize(
    "host", ["2130706433", "127.1", "localhost", "127.0.0.1.", "①②⑦.0.0.1", "[::ffff:127.0.0.1]"]
)
def test_allowing_an_address_does_not_allow_its_other_spellings(wire: Wire, host: str) -> None:
    refuse(wire, f"http://{host}:{wire.target.port}/", allow="127.0.0.1")


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_proxies_of_the_environment_are_ignored(
    target: Target, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:1")
    perform(webhook(f"{target.url}/"))
    assert len(target.hits) == 1


# ------------------------------------------------------------------------------ resolving


def test_a_resolver_that_does_not_answer_ends_at_the_deadline(target: Target) -> None:
    release = threading.Event()

    def stuck(_host: str) -> Sequence[str]:
        release.wait(90)
        return [PUBLIC]

    with took(0.3, 60), pytest.raises(ActionTimeoutError):
        perform(webhook("http://hooks.example/", timeout_s=0.5), Network(resolve=stuck))
    release.set()
    assert target.accepted == 0


def test_a_name_that_does_not_exist_is_fatal_and_says_so(wire: Wire) -> None:
    with pytest.raises(FatalError, match=r"^the URL's host name does not resolve$") as caught:
        perform(webhook("http://nowhere.invalid/"), wire.network())
    assert caught.value.code == "UNEXPECTED"


def test_a_resolver_that_fails_for_now_is_worth_another_try() -> None:
    def fail(_host: str) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    with pytest.raises(OSError, match="Temporary failure") as caught:
        perform(webhook("http://hooks.example/"), Network(resolve=fail))
    verdict = classify_error(caught.value)
    assert (verdict.retryable, verdict.code) == (True, "NET_EAI_AGAIN")


def test_the_machines_resolver_reads_the_old_notations() -> None:
    assert set(system_addresses("0x7f.1")) == {"127.0.0.1"}


# ----------------------------------------------------------------------------- connecting

REFUSED_4 = ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
UNREACHABLE = OSError(errno.ENETUNREACH, "Network is unreachable")
TIMED_OUT = TimeoutError("timed out")


@pytest.mark.parametrize(
    ("dead", "dialled"),
    [
        ({PUBLIC: REFUSED_4}, [PUBLIC, PUBLIC_TOO]),
        ({PUBLIC: TIMED_OUT}, [PUBLIC, PUBLIC_TOO]),
        ({PUBLIC: UNREACHABLE, PUBLIC_TOO: UNREACHABLE}, [PUBLIC, PUBLIC_TOO, PUBLIC_6]),
    ],
)
def test_the_next_address_is_tried_when_one_does_not_answer(
    wire: Wire, dead: dict[str, OSError], dialled: list[str]
) -> None:
    wire.names["hooks.example"] = [[PUBLIC, PUBLIC_TOO, PUBLIC_6]]
    wire.dead = dead
    perform(webhook("http://hooks.example/"), wire.network())
    assert [address for address, _ in wire.dialled] == dialled


def test_at_most_two_addresses_of_each_family_are_tried_and_the_first_error_counts(
    wire: Wire,
) -> None:
    many = [f"93.184.216.{n}" for n in range(20)] + [f"2606:2800::{n}" for n in range(20)]
    wire.names["hooks.example"] = [many]
    wire.dead = dict.fromkeys(many, UNREACHABLE) | {many[0]: TIMED_OUT, many[1]: REFUSED_4}
    with pytest.raises(ConnectionRefusedError) as caught:
        perform(webhook("http://hooks.example/"), wire.network())
    assert classify_error(caught.value).code == "NET_ECONNREFUSED"
    assert len(wire.dialled) == 4


def test_an_error_without_a_number_is_unexpected(wire: Wire) -> None:
    wire.names["hooks.example"] = [[PUBLIC]]
    wire.dead = {PUBLIC: OSError("no number")}
    with pytest.raises(OSError, match="no number") as caught:
        perform(webhook("http://hooks.example/"), wire.network())
    assert classify_error(caught.value).code == "UNEXPECTED"


def test_a_port_that_nobody_listens_on_is_worth_another_try() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(ConnectionRefusedError) as caught:
        perform(webhook(f"http://127.0.0.1:{port}/"))
    verdict = classify_error(caught.value)
    assert (verdict.retryable, verdict.code) == (True, "NET_ECONNREFUSED")


def test_an_ipv6_address_is_connected_to() -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(ConnectionRefusedError):
        perform(webhook(f"http://[::1]:{port}/", allow="::1"))


# ------------------------------------------------------------------------------------ TLS


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"), "hooks.example")


@pytest.fixture
def secure(certificates: Certificates) -> Iterator[Wire]:
    """A wire to a target that speaks TLS."""
    target = Target(tls=certificates.server)
    target.on("/", respond(200, "ok"))
    names: dict[str, list[Sequence[str]]] = {
        name: [[PUBLIC]] for name in ("hooks.example", "other.example")
    }
    yield Wire(target, names, authorities=certificates.client)
    target.wait_until_idle()
    target.close()


@pytest.mark.parametrize("host", ["hooks.example", "HOOKS.example", "hooks.example."])
def test_case_093_tls_asks_for_and_checks_the_name_and_not_the_address(
    secure: Wire, host: str
) -> None:
    output = perform(webhook(f"https://{host}/", body={"a": 1}), secure.network()).output
    assert output["body"] == "ok"
    assert (secure.dialled, secure.target.names) == ([(PUBLIC, 443)], ["hooks.example"])
    assert secure.target.hits[0].headers["host"] == "hooks.example"


@pytest.mark.parametrize("host", ["other.example", PUBLIC])
def test_a_certificate_for_another_name_is_not_accepted(secure: Wire, host: str) -> None:
    with pytest.raises(FatalError, match=r"^no trusted connection to the target: ") as caught:
        perform(webhook(f"https://{host}/"), secure.network())
    assert caught.value.code == "UNEXPECTED"
    assert "ismatch" in caught.value.message
    assert secure.target.hits == []


def test_a_certificate_that_nobody_vouches_for_is_not_accepted(secure: Wire) -> None:
    secure.authorities = None
    with pytest.raises(FatalError, match=r"self-signed certificate$"):
        perform(webhook("https://hooks.example/"), secure.network())
    assert secure.target.hits == []


def test_a_target_that_speaks_no_tls_is_not_accepted(wire: Wire) -> None:
    wire.names["hooks.example"] = [[PUBLIC]]
    with pytest.raises(FatalError, match=r"^no trusted connection to the target: "):
        perform(webhook("https://hooks.example/"), wire.network())


def test_a_tls_handshake_that_does_not_end_ends_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with took(0.3, 60), pytest.raises(ActionTimeoutError):
            perform(webhook(f"https://127.0.0.1:{port}/", timeout_s=0.5))


def test_what_certificates_are_checked_against_is_built_once() -> None:
    assert trusted_authorities() is trusted_authorities()
    assert trusted_authorities().verify_mode is ssl.CERT_REQUIRED
    assert trusted_authorities().check_hostname
