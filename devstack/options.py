"""What `whenthen dev` may be told."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from devstack.sandbox import ROOT

DEFAULT_PORT = 8787
PORT_MAX = 65_535
DEFAULT_PROCESSES = 2


@dataclass(frozen=True, slots=True)
class Options:
    """`port` 0 takes any free one; `processes` is how many the API and the executor get each."""

    port: int
    data: Path
    ready_file: Path | None
    fresh: bool
    processes: int
    demo: bool
    fair_queues: bool
    template: Path


def parse_options(arguments: Sequence[str] | None = None) -> Options:
    """Return the options of a command line; ends the process with 2 when it is wrong."""
    parser = argparse.ArgumentParser(
        prog="whenthen dev",
        description="Run the whole engine on this machine: Postgres, emulated AWS, all functions.",
    )
    parser.add_argument("--port", type=_port, default=DEFAULT_PORT, help="of the HTTP API (8787)")
    parser.add_argument(
        "--data", type=Path, default=Path(".whenthen"), help="where everything is kept (.whenthen)"
    )
    parser.add_argument("--ready-file", type=Path, help="write URL, tokens and pids here as JSON")
    parser.add_argument("--fresh", action="store_true", help="delete what the data folder holds")
    parser.add_argument(
        "--processes",
        type=_positive,
        default=DEFAULT_PROCESSES,
        help="of the HTTP API and of the executor, each (2)",
    )
    parser.add_argument("--demo", action="store_true", help="fire one event and show its run")
    parser.add_argument(
        "--no-fair-queues",
        dest="fair_queues",
        action="store_false",
        help="receive the oldest message first, whatever its group",
    )
    parser.add_argument(
        "--template",
        type=Path,
        default=ROOT / "template.yaml",
        help="the SAM template to run (the repository's own)",
    )
    return Options(**vars(parser.parse_args(arguments)))


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= PORT_MAX:
        raise argparse.ArgumentTypeError(f"must be 0 to {PORT_MAX}")
    return number


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number
