"""A mail as it travels: its headers and bodies as bytes, 7-bit and safe against line breaks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.headerregistry import HeaderRegistry, MessageIDHeader
from email.message import EmailMessage
from email.policy import SMTP
from typing import Final

# Bodies and headers in other scripts are encoded: not every server takes them as they are.
_HEADERS: Final = HeaderRegistry()
# An id is longer than a line should be. Any other header would be broken up into encoded words.
_HEADERS.map_to_type("x-whenthen-id", MessageIDHeader)  # type: ignore[arg-type]  # it is a mixin
_POLICY: Final = SMTP.clone(cte_type="7bit", header_factory=_HEADERS)
# Line breaks of every kind, and what no header can carry.
_BREAKS: Final = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029]+")
# RFC 5322, section 2.1.1: what a line may have; mail programs show far less of a subject.
SUBJECT_MAX_CHARS: Final = 998


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail. `id` is the same however often it is sent: by it a repetition can be told.

    Addresses are as `mailbox` writes them. With both `text` and `html` the reader's program
    chooses.
    """

    id: str
    to: Sequence[str]
    subject: str
    text: str | None = None
    html: str | None = None
    reply_to: str | None = None


def message_id(mail: Mail, sender: str) -> str:
    """Return the mail's id as its `Message-ID`, without the brackets: `msg_…@example.com`."""
    return f"{mail.id}@{domain_of(sender)}"


def domain_of(address: str) -> str:
    return address.rpartition("@")[2]


def compose(mail: Mail, sender: str, sent_at: datetime) -> bytes:
    """Return `mail` as a message from `sender`.

    `Auto-Submitted` keeps holiday notes and other machines from answering (RFC 3834). The id
    stands in a header of its own too, as SES replaces the `Message-ID`.
    """
    message = EmailMessage(_POLICY)
    message["From"] = sender
    message["To"] = ", ".join(mail.to)
    if mail.reply_to is not None:
        message["Reply-To"] = mail.reply_to
    message["Subject"] = _one_line(mail.subject)
    message["Date"] = sent_at
    message["Message-ID"] = f"<{message_id(mail, sender)}>"
    message["X-Whenthen-Id"] = f"<{mail.id}>"
    message["Auto-Submitted"] = "auto-generated"
    if mail.text is not None or mail.html is None:
        message.set_content(mail.text or "")
        if mail.html is not None:
            message.add_alternative(mail.html, subtype="html")
    else:
        message.set_content(mail.html, subtype="html")
    return message.as_bytes()


def _one_line(subject: str) -> str:
    line = _BREAKS.sub(" ", subject).strip()[:SUBJECT_MAX_CHARS]
    # `=?utf-8?q?…?=` would be read as the encoding of something else, line breaks included.
    return line.replace("=?", "= ?")
