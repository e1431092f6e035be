"""Mails the deaths that were just told in the product: at most once each, and blocking nothing."""

import logging
from collections.abc import Sequence
from time import monotonic
from typing import Final
from uuid import UUID

from whenthen.actions.mail_message import Mail
from whenthen.actions.mailing import REAL_WAYS, Ways, send
from whenthen.domain.rules.classify import classify_error
from whenthen.domain.rules.mail_address import mailbox
from whenthen.engine.context import Context
from whenthen.engine.report_deaths import Announcement

_log = logging.getLogger("whenthen.deaths")

# Of the notifier's 30 s: all mails of one batch together, and one alone.
_BATCH_S: Final = 15
_MAIL_S: Final = 5
_OF_ONE_ADDRESS: Final = "EMAIL_REJECTED"


def mail_deaths(
    context: Context, announcements: Sequence[Announcement], ways: Ways = REAL_WAYS
) -> None:
    """Mail each announced death to its people, one mail to each of them.

    Their transactions have committed, and a second delivery of a notice announces nothing: a mail
    that fails, or whose process dies, is lost and never doubled. After a failure that is no
    matter of one address the rest of the batch is left out, so that a mail server that is down
    does not hold up those who look into the product.
    """
    mails = [mail for one in announcements for mail in _mails(one, context.settings.public_url)]
    ends_s = monotonic() + _BATCH_S
    sent = 0
    for mail in mails:
        if monotonic() + _MAIL_S > ends_s:
            break
        failure = _failure(context, mail, ways)
        sent += failure is None
        if failure not in {None, _OF_ONE_ADDRESS}:
            break
    context.metrics.count("automations.death_mails_failed", len(mails) - sent)


def _failure(context: Context, mail: Mail, ways: Ways) -> str | None:
    """Send `mail` and return None, or the code of what went wrong."""
    try:
        send(mail, context.settings, _MAIL_S, ways)
    except Exception as error:  # noqa: BLE001  # whatever it is, the death has been told
        code = classify_error(error).code
        _log.warning("death not mailed", extra={"mail": mail.id, "code": code})
        return code
    return None


def _mails(announced: Announcement, public_url: str | None) -> list[Mail]:
    death = announced.death
    where = f"\n\nRun {death.run_id}" + (f", {public_url}/" if public_url else "")
    return [
        Mail(
            id=_mail_id(announced, user_id),
            to=[address],
            subject=announced.title,
            text=announced.body + where,
        )
        for user_id, written in announced.addresses.items()
        if (address := mailbox(written)) is not None
    ]


def _mail_id(announced: Announcement, user_id: UUID) -> str:
    return f"death_{announced.death.run_id}_{announced.number}_{user_id}"
