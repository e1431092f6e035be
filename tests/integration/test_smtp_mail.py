"""Mail handed to an SMTP server: what it hears, what its refusals become, and an end in time."""

import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.integration.certificates import Certificates
from tests.integration.mail_servers import (
    HOST,
    Mailroom,
    Script,
    drips,
    floods,
    hangs,
    mailroom,
    network,
    says,
)
from whenthen.actions.deadline import Deadline
from whenthen.actions.smtp_mail import Envelope, SmtpNetwork, SmtpServer, deliver
from whenthen.domain.errors import ActionTimeoutError, FatalError, RetryableError
from whenthen.domain.rules.classify import classify_error

ENVELOPE = Envelope("bot@sender.example", ["ada@example.com"], b"Subject: Hi\r\n\r\n.dots\r\n")
PLAIN = SmtpServer(HOST, 25, "none")


@pytest.fixture
def room() -> Iterator[Mailroom]:
    with mailroom() as room:
        yield room


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"), HOST)


def hand_over(
    port: int,
    to: list[str] | None = None,
    server: SmtpServer = PLAIN,
    *,
    timeout_s: float = 10,
    tls: ssl.SSLContext | None = None,
) -> list[str]:
    envelope = replace(ENVELOPE, recipients=to or ENVELOPE.recipients)
    return deliver(envelope, server, Deadline(timeout_s), network(port, tls))


# ------------------------------------------------------------------------------ a plain server


def test_the_server_hears_sender_recipients_and_message(room: Mailroom) -> None:
    assert hand_over(room.port, ["ada@example.com", "bob@example.com"]) == []
    assert room.senders == ["bot@sender.example"]
    assert room.recipients == [["ada@example.com", "bob@example.com"]]
    # A line that begins with a dot would end the message; it is doubled on the way.
    assert room.raw == [b"Subject: Hi\r\n\r\n.dots\r\n"]


def test_the_greeting_names_the_senders_domain(room: Mailroom) -> None:
    hand_over(room.port)
    assert room.greeted_as == ["sender.example"]


@pytest.mark.parametrize(
    ("answers", "rejected", "received"),
    [
        ({}, [], ["a@x.example", "b@x.example"]),
        ({"a@x.example": "550 5.1.1 no such user"}, ["a@x.example"], ["b@x.example"]),
    ],
    ids=["none", "one for good"],
)
def test_who_is_refused_for_good_is_named_and_the_others_have_the_mail(
    room: Mailroom, answers: dict[str, str], rejected: list[str], received: list[str]
) -> None:
    room.answers = answers
    assert hand_over(room.port, ["a@x.example", "b@x.example"]) == rejected
    assert room.recipients == [received]


@pytest.mark.parametrize(
    ("answers", "error", "code"),
    [
        ({"a@x.example": "550 gone", "b@x.example": "553 odd"}, FatalError, "EMAIL_REJECTED"),
        ({"a@x.example": "451 greylisted"}, RetryableError, "EMAIL_RETRIABLE"),
        ({"b@x.example": "452 full"}, RetryableError, "EMAIL_RETRIABLE"),
        (
            {"a@x.example": "550 gone", "b@x.example": "450 later"},
            RetryableError,
            "EMAIL_RETRIABLE",
        ),
        ({"DATA": "552 too large"}, FatalError, "EMAIL_REJECTED"),
        ({"DATA": "451 try again"}, RetryableError, "EMAIL_RETRIABLE"),
    ],
    ids=str,
)
def test_a_refusal_of_all_or_one_that_may_pass_gives_the_mail_to_nobody(
    room: Mailroom, answers: dict[str, str], error: Any, code: str
) -> None:
    room.answers = answers
    with pytest.raises(error) as caught:
        hand_over(room.port, ["a@x.example", "b@x.example"])
    assert caught.value.code == code
    assert any(text in caught.value.message for text in answers.values())
    assert room.raw == []


# ------------------------------------------------------------------------------- a secured one


def test_starttls_secures_the_way_before_anything_is_said(certificates: Certificates) -> None:
    server = SmtpServer(HOST, 587, "starttls", ("user", "right"))
    options = {"tls_context": certificates.server, "require_starttls": True, "auth_required": True}
    with mailroom(**options) as room:
        hand_over(room.port, server=server, tls=certificates.client)
        assert (len(room.raw), room.logins) == (1, [("user", "right")])


def test_implicit_tls_secures_the_way_from_the_first_byte(certificates: Certificates) -> None:
    server = SmtpServer(HOST, 465, "tls", ("user", "right"))
    options = {"ssl_context": certificates.server, "auth_require_tls": False}
    with mailroom(**options) as room:
        hand_over(room.port, server=server, tls=certificates.client)
        assert (len(room.raw), room.logins) == (1, [("user", "right")])


def test_a_server_without_starttls_is_told_nothing(room: Mailroom) -> None:
    server = SmtpServer(HOST, 587, "starttls", ("user", "right"))
    with pytest.raises(FatalError, match="offers no STARTTLS") as caught:
        hand_over(room.port, server=server)
    assert (caught.value.code, room.raw, room.logins) == ("EMAIL_REJECTED", [], [])


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_a_certificate_that_nobody_vouches_for_is_not_accepted(
    certificates: Certificates, security: str
) -> None:
    context = "tls_context" if security == "starttls" else "ssl_context"
    server = SmtpServer(HOST, 587, security, ("user", "right"))
    with (
        mailroom(**{context: certificates.server}) as room,
        pytest.raises(FatalError, match="no trusted connection to the mail server: ") as caught,
    ):
        hand_over(room.port, server=server)
    assert (caught.value.code, room.logins) == ("EMAIL_REJECTED", [])


def test_a_refused_password_is_told_without_what_the_server_says(
    certificates: Certificates,
) -> None:
    server = SmtpServer(HOST, 587, "starttls", ("user", "wrong"))
    with mailroom(tls_context=certificates.server) as room:
        with pytest.raises(FatalError) as caught:
            hand_over(room.port, server=server, tls=certificates.client)
        assert (caught.value.code, caught.value.message) == (
            "EMAIL_REJECTED",
            "535 the mail server refused the credentials",
        )
        assert room.raw == []


# ---------------------------------------------------------------------------- a hostile server

GREETING = b"220 mail.example ESMTP\r\n"
OK = b"250 OK\r\n"
GO_ON = b"354 go on\r\n"


@pytest.fixture
def script() -> Iterator[Callable[[Any], Script]]:
    made: list[Script] = []

    def start(behave: Any) -> Script:
        made.append(Script(behave))
        return made[-1]

    yield start
    for server in made:
        server.close()


@pytest.mark.parametrize("stall", [drips, hangs], ids=["drips", "hangs"])
@pytest.mark.parametrize("stage", ["greeting", "EHLO", "MAIL", "RCPT", "DATA", "message"])
def test_a_server_that_never_finishes_an_answer_is_left_at_the_deadline(
    script: Callable[[Any], Script], stage: str, stall: Any
) -> None:
    said = {
        "greeting": None,
        "EHLO": (GREETING,),
        "MAIL": (GREETING, OK),
        "RCPT": (GREETING, OK, OK),
        "DATA": (GREETING, OK, OK, OK),
        # The message's own lines are read as if they were commands, which is all the same here.
        "message": (GREETING, OK, OK, OK, GO_ON),
    }[stage]
    server = script(stall if said is None else says(*said, then=stall))
    with pytest.raises(ActionTimeoutError):
        hand_over(server.port, timeout_s=0.5)
    assert server.accepted == 1


@pytest.mark.parametrize("stage", [(GREETING,), (GREETING, OK, OK)], ids=["EHLO", "RCPT"])
def test_an_answer_without_end_is_not_read_without_end(
    script: Callable[[Any], Script], stage: tuple[bytes, ...]
) -> None:
    server = script(says(*stage, then=floods))
    with pytest.raises(RetryableError) as caught:
        hand_over(server.port)
    assert caught.value.code == "EMAIL_RETRIABLE"


@pytest.mark.parametrize(
    ("answers", "error", "code"),
    [
        ((b"554 go away\r\n",), FatalError, "EMAIL_REJECTED"),
        ((b"421 busy\r\n",), RetryableError, "EMAIL_RETRIABLE"),
        ((b"no SMTP at all\r\n",), FatalError, "EMAIL_REJECTED"),
        ((GREETING, OK, b"550 not from you\r\n"), FatalError, "EMAIL_REJECTED"),
        ((GREETING, OK, OK, OK, b"450 not now\r\n"), RetryableError, "EMAIL_RETRIABLE"),
        ((GREETING,), RetryableError, "EMAIL_RETRIABLE"),
        ((GREETING, OK, OK, OK, GO_ON), RetryableError, "EMAIL_RETRIABLE"),
    ],
    ids=[
        "no service",
        "busy",
        "no smtp",
        "sender refused",
        "data refused",
        "hangs up after the greeting",
        "hangs up within the message",
    ],
)
def test_a_refusal_at_any_stage_has_its_code(
    script: Callable[[Any], Script], answers: tuple[bytes, ...], error: Any, code: str
) -> None:
    server = script(says(*answers))
    with pytest.raises(error) as caught:
        hand_over(server.port)
    assert caught.value.code == code


def test_a_server_that_does_not_answer_goodbye_has_the_mail_all_the_same(
    script: Callable[[Any], Script],
) -> None:
    message_lines = ENVELOPE.message.count(b"\n") + 1
    answers = (GREETING, OK, OK, OK, GO_ON, *[b""] * (message_lines - 1), OK)
    server = script(says(*answers, then=hangs))
    assert hand_over(server.port, timeout_s=2) == []


def test_a_server_that_is_not_there_may_come_back() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(ConnectionRefusedError) as caught:
        hand_over(port)
    verdict = classify_error(caught.value)
    assert (verdict.retryable, verdict.code) == (True, "NET_ECONNREFUSED")


def test_a_name_that_does_not_exist_is_no_mail_server() -> None:
    def unknown(_host: str) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    with pytest.raises(FatalError, match="the mail server's host name does not resolve"):
        deliver(ENVELOPE, PLAIN, Deadline(5), SmtpNetwork(resolve=unknown))
