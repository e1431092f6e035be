"""Lets moto's SES be heard: every mail that it takes can be kept."""

import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from moto.ses.models import SESBackend

from devstack.replacing import replace

# Hears the id that SES gave, and the message as it was sent.
Listener = Callable[[str, str], None]
_listeners: list[Listener] = []


@cache
def teach_moto_ses() -> None:
    """Tell listeners of every mail, once a process; moto itself only remembers them."""
    send = SESBackend.send_raw_email

    def send_and_tell(self: Any, source: str, destinations: list[str], raw_data: str) -> Any:
        message = send(self, source, destinations, raw_data)
        for listener in _listeners:
            listener(message.id, raw_data)
        return message

    replace(SESBackend, send_raw_email=send_and_tell)


def keep_mails(folder: Path) -> None:
    """Keep each mail from now on as `folder/<when>-<id>.eml`, whole or not at all."""
    folder.mkdir(exist_ok=True)

    def keep(message_id: str, raw: str) -> None:
        path = folder / f"{time.time_ns()}-{message_id}.eml"
        temporary = path.with_suffix(".new")
        temporary.write_text(raw, "utf-8", newline="")
        temporary.replace(path)

    _listeners.append(keep)
