"""Sends a mail through an SMTP server: one conversation, under one deadline, never repeated."""

import smtplib
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from whenthen.actions.deadline import Deadline
from whenthen.actions.dialling import Dial, connect_to_any, dial
from whenthen.actions.mail_message import domain_of
from whenthen.actions.resolving import Resolve, addresses_of, system_addresses
from whenthen.actions.smtp_channel import SmtpChannel
from whenthen.domain.errors import ActionTimeoutError, FatalError, RetryableError, WhenthenError

_TOLD_MAX_CHARS: Final = 300
_AUTHENTICATION: Final = 535


@lru_cache(maxsize=1)
def trusted_authorities() -> ssl.SSLContext:
    """Return what certificates are checked against, built once: it takes tens of milliseconds."""
    return ssl.create_default_context()


@dataclass(frozen=True, slots=True)
class SmtpNetwork:
    """How this process reaches the mail server; tests put their own in place of each part."""

    resolve: Resolve = system_addresses
    dial: Dial = dial
    tls: Callable[[], ssl.SSLContext] = trusted_authorities


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """Where mail is handed over; `security` is one of `settings.SMTP_SECURITY`."""

    host: str
    port: int
    security: str
    # (user, password), or None where the server asks nobody.
    credentials: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Envelope:
    """Who a message is from and for, as the server is told."""

    sender: str
    recipients: Sequence[str]
    message: bytes


def deliver(
    envelope: Envelope, server: SmtpServer, deadline: Deadline, network: SmtpNetwork
) -> list[str]:
    """Hand over the message; return the recipients that the server refused for good.

    The others have the mail then. As long as one is refused for now (4xx, such as greylisting),
    nobody gets it, so that the next try is the first for all.

    Raises:
        FatalError: EMAIL_REJECTED, the server refused for good (5xx) the sender, all recipients,
            the credentials or the message, offers no STARTTLS, or has no valid certificate;
            UNEXPECTED, its name does not exist.
        RetryableError: EMAIL_RETRIABLE, it refused for now (4xx) or hung up.
        ActionTimeoutError: it had not taken the message when the deadline passed.
        OSError: it could not be reached.

    """
    addresses = addresses_of(server.host, deadline, network.resolve, "the mail server's")
    connection = connect_to_any(addresses, server.port, deadline, network.dial)
    with _told_as_ours(), _Conversation(SmtpChannel(connection, deadline), envelope) as smtp:
        smtp.open(server, network.tls)
        return smtp.hand_over(envelope)


class _Conversation(smtplib.SMTP):
    """smtplib's own, over a channel instead of a socket."""

    def __init__(self, channel: SmtpChannel, envelope: Envelope) -> None:
        # The greeting names a domain that exists: a function's own host name does not, outside.
        super().__init__(local_hostname=domain_of(envelope.sender))
        self._talk_over(channel)

    def _talk_over(self, channel: SmtpChannel) -> None:
        self._channel = channel
        as_socket: Any = channel
        self.sock = as_socket
        # What smtplib has buffered of the connection before.
        self.file = None

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self, server: SmtpServer, tls: Callable[[], ssl.SSLContext]) -> None:
        """Hear the server's greeting, secure the connection, and say who we are."""
        if server.security == "tls":
            self._talk_over(self._channel.secured(tls(), server.host))
        _expect(self.getreply(), 220)
        self.ehlo_or_helo_if_needed()
        if server.security == "starttls":
            self._start_tls(server, tls)
        if server.credentials is not None:
            self.login(*server.credentials)

    def hand_over(self, envelope: Envelope) -> list[str]:
        _expect(self.mail(envelope.sender), 250)
        answers = {address: self.rcpt(address) for address in envelope.recipients}
        refusals = {address: answer for address, answer in answers.items() if answer[0] // 100 != 2}
        passing = [answer for answer in refusals.values() if answer[0] // 100 == 4]
        if passing or len(refusals) == len(answers):
            raise smtplib.SMTPResponseException(*[*passing, *refusals.values()][0])
        _expect(self.data(envelope.message), 250)
        with suppress(OSError, ActionTimeoutError):
            # The message is theirs now; whether they say goodbye changes nothing.
            self.putcmd("quit")
        return list(refusals)

    def _start_tls(self, server: SmtpServer, tls: Callable[[], ssl.SSLContext]) -> None:
        if not self.has_extn("starttls"):
            raise smtplib.SMTPNotSupportedError("the mail server offers no STARTTLS")
        _expect(self.docmd("STARTTLS"), 220)
        # What was said before is forgotten, what is buffered too: nobody vouched for it.
        self._talk_over(self._channel.secured(tls(), server.host))
        self.helo_resp = self.ehlo_resp = None
        self.esmtp_features, self.does_esmtp = {}, False
        self.ehlo_or_helo_if_needed()


def _expect(answer: tuple[int, bytes], code: int) -> None:
    if answer[0] != code:
        raise smtplib.SMTPResponseException(*answer)


@contextmanager
def _told_as_ours() -> Iterator[None]:
    """Raise what smtplib raises as errors of our own."""
    try:
        yield
    except smtplib.SMTPResponseException as error:
        raise _refusal(error.smtp_code, error.smtp_error) from error
    except smtplib.SMTPServerDisconnected as error:
        raise RetryableError("EMAIL_RETRIABLE", "the mail server hung up") from error
    except smtplib.SMTPException as error:
        raise FatalError("EMAIL_REJECTED", str(error)[:_TOLD_MAX_CHARS]) from error
    except ssl.SSLError as error:
        reason = getattr(error, "verify_message", None) or error.reason or "TLS"
        raise FatalError(
            "EMAIL_REJECTED", f"no trusted connection to the mail server: {reason}"
        ) from error


def _refusal(code: int, reply: bytes | str) -> WhenthenError:
    if code == _AUTHENTICATION:
        # Servers repeat the user here.
        return FatalError("EMAIL_REJECTED", f"{code} the mail server refused the credentials")
    text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
    message = f"{code} {text}"[:_TOLD_MAX_CHARS]
    if code // 100 == 4:
        return RetryableError("EMAIL_RETRIABLE", message)
    return FatalError("EMAIL_REJECTED", message)
