"""`whenthen tokens create`: a new credential of the caller's."""

import argparse
import re
from datetime import UTC, datetime, timedelta
from typing import Final

from cli.api import api_from_environment
from cli.exits import CommandError
from cli.terminal import note, print_json

_DAYS: Final = re.compile(r"([1-9][0-9]{0,3})d")


def create(options: argparse.Namespace) -> int:
    """Print the new token, alone on its line: it is shown this once."""
    body = {"name": options.name, "expiresAt": _instant(options.expires)}
    made = api_from_environment().call("POST", "/me/tokens", body)
    if options.json:
        print_json(made)
    else:
        until = made["expiresAt"] or "until it is revoked"
        note(f"token {made['name']} ({made['id']}), valid {until}; it is shown this once:")
        print(made["token"])
    return 0


def _instant(text: str | None) -> str | None:
    """Return `90d` as the instant in 90 days; an instant as it is."""
    days = _DAYS.fullmatch(text or "")
    if days:
        return (datetime.now(UTC) + timedelta(days=int(days[1]))).isoformat()
    if text:
        try:
            datetime.fromisoformat(text)
        except ValueError as error:
            raise CommandError(f"{text} is no number of days (90d) and no instant") from error
    return text
