"""SEND_EMAIL: one mail to up to 50 people, at least once under one id."""

from collections.abc import Iterator
from typing import Any

from whenthen.actions.as_text import as_text
from whenthen.actions.mail_message import Mail
from whenthen.actions.mailing import REAL_WAYS, Ways, send
from whenthen.actions.requests import StepRequest, StepSuccess
from whenthen.domain.errors import FatalError
from whenthen.domain.limits import EMAIL_RECIPIENTS_MAX
from whenthen.domain.rules.mail_address import mailbox
from whenthen.domain.rules.webhook_signature import message_id


def perform(request: StepRequest, ways: Ways = REAL_WAYS) -> StepSuccess:
    """Send the mail of `request`; the output is `{"messageId"}`.

    With `"rejected": ["a@example.com"]` beside it where the mail server refused some of the
    recipients for good, and so only the others have the mail.

    Raises:
        FatalError: EMAIL_REJECTED, an address is none, there are more than 50, or the mail was
            refused for good; TEMPLATE_MISSING, a recipient has no value; EMAIL_NOT_CONFIGURED.
        RetryableError: the mail was refused for now (EMAIL_RETRIABLE, `AWS_{code}`).
        ActionTimeoutError: it was not taken when the deadline passed.
        OSError, BotoCoreError, ClientError: there was no way to the server, or it failed.

    """
    config = request.config
    reply_to = config.get("replyTo")
    mail = Mail(
        id=message_id(request.run_id, request.generation, request.action_id),
        to=_recipients(config["to"]),
        subject=as_text(config["subject"]),
        text=as_text(config["text"]) if "text" in config else None,
        html=as_text(config["html"]) if "html" in config else None,
        reply_to=None if reply_to is None else _address(reply_to, "replyTo"),
    )
    sent = send(mail, request.settings, request.timeout_s, ways)
    rejected = {"rejected": list(sent.rejected)} if sent.rejected else {}
    return StepSuccess({"messageId": sent.message_id, **rejected})


def _recipients(to: list[Any]) -> list[str]:
    """Return the addresses of `to`, each once; a lone template may have become a list of them."""
    found = list(dict.fromkeys(_address(value, place) for value, place in _flat(to)))
    if not found:
        raise FatalError("TEMPLATE_MISSING", "to has no value")
    if len(found) > EMAIL_RECIPIENTS_MAX:
        raise FatalError("EMAIL_REJECTED", f"more than {EMAIL_RECIPIENTS_MAX} recipients")
    return found


def _flat(to: list[Any]) -> Iterator[tuple[Any, str]]:
    for index, value in enumerate(to):
        for one in value if isinstance(value, list) else [value]:
            yield one, f"to[{index}]"


def _address(value: Any, place: str) -> str:
    text = as_text(value).strip()
    if not text:
        raise FatalError("TEMPLATE_MISSING", f"{place} has no value")
    address = mailbox(text)
    if address is None:
        raise FatalError("EMAIL_REJECTED", f"{place} is no e-mail address")
    return address
