"""`whenthen`: the local stack, the demo, and looking at runs."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cli import demo, dev, invoke, runs
from cli.exits import CommandError


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["dev"]:
        return dev.run(given[1:])
    options = _parser().parse_args(given)
    try:
        exit_code = int(options.command(options))
        sys.stdout.flush()
    except CommandError as error:
        print(f"whenthen: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # Whoever read along (`| head`) has enough; Python must not complain of it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="whenthen",
        description="Commands against the deployment that WHENTHEN_URL and WHENTHEN_TOKEN name.",
        epilog="exit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 unauthorised, 5 unreachable",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("dev", help="run the whole engine on this machine (dev --help for more)")
    demo_parser = commands.add_parser(
        "demo", help="fire one event and show its run, on a stack of its own if none is named"
    )
    demo_parser.set_defaults(command=demo.run)
    invoking = commands.add_parser("invoke", help="give a function of the local stack one event")
    invoking.add_argument("function", metavar="FUNCTION", help="as the template names it")
    invoking.add_argument("event", metavar="FILE", help="the event as JSON; - reads it from stdin")
    invoking.add_argument(
        "--data", type=Path, default=Path(".whenthen"), help="of the running stack (.whenthen)"
    )
    invoking.set_defaults(command=invoke.run)
    runs_parser = commands.add_parser("runs", help="look at runs")
    runs_commands = runs_parser.add_subparsers(required=True, metavar="COMMAND")
    listing = runs_commands.add_parser("list", help="the newest runs of an automation")
    listing.add_argument("automation_id", metavar="AUTOMATION")
    listing.add_argument("--status", help="only runs of this status")
    listing.add_argument("--json", action="store_true", help="as JSON")
    listing.set_defaults(command=runs.list_runs)
    showing = runs_commands.add_parser("show", help="one run: steps and log")
    showing.add_argument("automation_id", metavar="AUTOMATION")
    showing.add_argument("run_id", metavar="RUN")
    showing.add_argument("--json", action="store_true", help="as JSON")
    showing.set_defaults(command=runs.show_run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
