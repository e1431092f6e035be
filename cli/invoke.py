"""`whenthen invoke`: give a function one event and print what it returns."""

import argparse
import sys
from pathlib import Path

from cli import functions, json_text
from cli.exits import FAILED, CommandError
from cli.terminal import print_json


def run(options: argparse.Namespace) -> int:
    """Print the return value as JSON; 1 when the function failed, its error on standard error."""
    try:
        print_json(functions.invoke(options, options.function, _event(options.event)))
    except functions.FunctionFailedError as error:
        print(json_text.dumps(error.told, indent=2), file=sys.stderr)
        return FAILED
    return 0


def _event(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name} is not readable: {error.strerror}") from error
