"""Sends a mail by the way that this deployment has: SES, or its SMTP server."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from whenthen.actions.deadline import Deadline
from whenthen.actions.mail_message import Mail, compose, message_id
from whenthen.actions.smtp_mail import Envelope, SmtpNetwork, SmtpServer, deliver
from whenthen.aws import mail as ses
from whenthen.aws.action_calls import Refusals, answer_of
from whenthen.aws.clients import ActionClient, action_client
from whenthen.aws.database_secret import read_credentials
from whenthen.domain.errors import FatalError
from whenthen.settings import Settings

_UNREADABLE: Final = Refusals("EMAIL_NOT_CONFIGURED", told=())


@dataclass(frozen=True, slots=True)
class Ways:
    """How mail leaves this process; tests put their own in place of each part."""

    client: ActionClient = action_client
    network: SmtpNetwork = field(default_factory=SmtpNetwork)


REAL_WAYS: Final = Ways()


@dataclass(frozen=True, slots=True)
class Sent:
    """A mail that is on its way.

    `message_id` is its `Message-ID`, without the brackets and the domain that SES adds.
    `rejected`: recipients that the mail server refused for good, while the others have it.
    """

    message_id: str
    rejected: Sequence[str] = ()


def send(mail: Mail, settings: Settings, timeout_s: float, ways: Ways = REAL_WAYS) -> Sent:
    """Send `mail` from this deployment's address.

    Raises:
        FatalError: EMAIL_NOT_CONFIGURED, it has none, or its SMTP credentials cannot be read;
            EMAIL_REJECTED, the mail was refused for good.
        RetryableError: it was refused for now (EMAIL_RETRIABLE, `AWS_{code}`).
        ActionTimeoutError: it was not taken when the time was up.
        OSError, BotoCoreError, ClientError: there was no way to the server, or it failed.

    """
    sender = settings.mail_from
    if sender is None:
        raise FatalError("EMAIL_NOT_CONFIGURED", "MAIL_FROM is not set: mail cannot be sent")
    deadline = Deadline(timeout_s)
    message = compose(mail, sender, datetime.now(UTC))
    if settings.smtp_host is None:
        return Sent(ses.send_email(message, sender, timeout_s, ways.client))
    server = SmtpServer(
        host=settings.smtp_host,
        port=settings.smtp_port,
        security=settings.smtp_security,
        credentials=_credentials(settings.smtp_secret_arn, timeout_s, ways.client),
    )
    envelope = Envelope(sender, mail.to, message)
    return Sent(message_id(mail, sender), deliver(envelope, server, deadline, ways.network))


def _credentials(
    secret_arn: str | None, timeout_s: float, client: ActionClient
) -> tuple[str, str] | None:
    if secret_arn is None:
        return None
    # Read for each mail, so that a rotated password needs nobody.
    secrets = client("secretsmanager", timeout_s)
    credentials: tuple[str, str] = answer_of(
        lambda: read_credentials(secret_arn, secrets), _UNREADABLE
    )
    return credentials
