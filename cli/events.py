"""`whenthen events send`: events of a host out of a file, as many as it holds."""

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from cli import json_text
from cli.api import api_from_environment, segment
from cli.exits import CommandError
from cli.terminal import Progress, note, print_json
from cli.workspaces import workspace_of

# What the API takes at once, all or nothing; and a body may have 1 MB.
EVENTS_MAX: Final = 500
BYTES_MAX: Final = 900_000


def send(options: argparse.Namespace) -> int:
    """Send the events of a file in its order; what was taken before a refusal stays taken."""
    events = read_events(options.file)
    api = api_from_environment()
    path = f"/workspaces/{segment(workspace_of(api, options.workspace))}/events"
    ids: list[str] = []
    with Progress("send", len(events)) as progress:
        for batch in batches(events):
            try:
                ids += api.call("POST", path, batch)["eventIds"]
            except CommandError:
                note(f"whenthen: {len(ids)} of {len(events)} events were taken before this one:")
                raise
            progress.show(len(ids))
    if options.json:
        print_json({"eventIds": ids})
    else:
        print("\n".join(ids))
    return 0


def read_events(name: str) -> list[Any]:
    """Return the events of a file: one, a list, or one a line; `-` reads standard input.

    Raises:
        CommandError: not readable, not JSON, or none in it.

    """
    try:
        content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{name} is not readable: {error}") from error
    events = _events(name, text)
    if not events:
        raise CommandError(f"{name} holds no event")
    return events


def batches(events: list[Any]) -> list[list[Any]]:
    """Return the events in lists that the API takes, of the order given."""
    lists: list[list[Any]] = [[]]
    size = 0
    for event in events:
        bytes_ = len(json_text.dumps(event).encode("utf-8", "surrogatepass")) + 2
        if lists[-1] and (len(lists[-1]) == EVENTS_MAX or size + bytes_ > BYTES_MAX):
            lists.append([])
            size = 0
        lists[-1].append(event)
        size += bytes_
    return lists


def _events(name: str, text: str) -> list[Any]:
    try:
        whole = json_text.loads(text)
    except (ValueError, RecursionError):
        return [_event(name, n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    return whole if isinstance(whole, list) else [whole]


def _event(name: str, number: int, line: str) -> Any:
    try:
        return json_text.loads(line)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{name}, line {number}: not JSON: {error}") from error
