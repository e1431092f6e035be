"""`whenthen invoke`: give a function of the local stack one event and print what it returns."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

from cli.exits import FAILED, NOT_FOUND, UNREACHABLE, USAGE, CommandError

# Longer than any function of the template may run, and the wait for a free process.
TIMEOUT_S = 240


def run(options: argparse.Namespace) -> int:
    """Print the return value as JSON; 1 when the function failed, its error on standard error."""
    answer = _call(options.data, options.function, _event(options.event))
    if "error" in answer:
        print(json.dumps(answer["error"], indent=2, ensure_ascii=False), file=sys.stderr)
        return FAILED
    print(json.dumps(answer["result"], indent=2, ensure_ascii=False))
    return 0


def _event(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name} is not readable: {error.strerror}") from error


def _call(data: Path, function: str, event: bytes) -> dict[str, Any]:
    door = _door(data)
    request = Request(  # noqa: S310  # the stack's own address
        f"{door['url']}/functions/{function}/invocations",
        data=event,
        headers={"Authorization": f"Bearer {door['token']}", "Content-Type": "application/json"},
        method="POST",
    )
    try:
        # A proxy cannot reach this machine's own loopback.
        with build_opener(ProxyHandler({})).open(request, timeout=TIMEOUT_S) as response:
            answer: dict[str, Any] = json.loads(response.read())
    except HTTPError as error:
        told = json.loads(error.read())["message"]
        if error.code == 404:
            raise CommandError(f"there is no {function}: {told}", NOT_FOUND) from error
        raise CommandError(told, FAILED if error.code >= 500 else USAGE) from error
    except (URLError, OSError) as error:
        raise CommandError(f"the stack on {data} is not reachable: {error}", UNREACHABLE) from error
    return answer


def _door(data: Path) -> dict[str, str]:
    try:
        door: dict[str, str] = json.loads((data / "control.json").read_text("utf-8"))
    except OSError as error:
        raise CommandError(f"no stack runs on {data}; start `whenthen dev`", UNREACHABLE) from error
    return door
