"""The functions of a deployment: of the local stack by its control door, else by lambda:Invoke."""

import argparse
import json
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

from cli import remote_functions
from cli.deadline import within
from cli.exits import FAILED, NOT_FOUND, UNREACHABLE, USAGE, CommandError

# Longer than any function of the template may run, and the wait for a free process.
TIMEOUT_S = 240


class FunctionFailedError(CommandError):
    """Raised when a function ended with an error; `told` is what it says of it."""

    def __init__(self, told: Any) -> None:
        super().__init__(f"{told.get('errorType')}: {told.get('errorMessage')}", FAILED)
        self.told = told


def invoke(options: argparse.Namespace, function: str, event: bytes) -> Any:
    """Return what a function returns for an event, JSON both; `options` name the deployment.

    Raises:
        FunctionFailedError: it raised.
        CommandError: it cannot be reached, or is not there.

    """
    if options.stack or function.startswith("arn:"):
        failed, told = remote_functions.invoke(options.stack, options.region, function, event)
        answer = {"error" if failed else "result": told}
    else:
        answer = _through_door(options.data, function, event)
    if "error" in answer:
        raise FunctionFailedError(answer["error"])
    return answer["result"]


def _through_door(data: Path, function: str, event: bytes) -> dict[str, Any]:
    door = _door(data)
    request = Request(  # noqa: S310  # the stack's own address
        f"{door['url']}/functions/{function}/invocations",
        data=event,
        headers={"Authorization": f"Bearer {door['token']}", "Content-Type": "application/json"},
        method="POST",
    )
    try:
        answer: dict[str, Any] = json.loads(within(TIMEOUT_S, lambda: _exchange(request)))
    except HTTPError as error:
        with error:
            told = json.loads(error.read())["message"]
        if error.code == 404:
            raise CommandError(f"there is no {function}: {told}", NOT_FOUND) from error
        raise CommandError(told, FAILED if error.code >= 500 else USAGE) from error
    except (URLError, OSError) as error:
        raise CommandError(f"the stack on {data} is not reachable: {error}", UNREACHABLE) from error
    return answer


def _exchange(request: Request) -> bytes:
    # A proxy cannot reach this machine's own loopback.
    with build_opener(ProxyHandler({})).open(request, timeout=TIMEOUT_S) as response:
        content: bytes = response.read()
        return content


def _door(data: Path) -> dict[str, str]:
    try:
        door: dict[str, str] = json.loads((data / "control.json").read_text("utf-8"))
    except OSError as error:
        told = f"no stack runs on {data}: start `whenthen dev`, or name a deployment with --stack"
        raise CommandError(told, UNREACHABLE) from error
    return door
