"""The grammar of the command line."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli import (
    apply,
    automations,
    cron,
    demo,
    deployments,
    events,
    invoke,
    redrive,
    runs,
    tokens,
)

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001  # no other name

# Seconds: how long a person looks on.
_TAIL_S = 600
_REDRIVE_S = 1_800


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of everything but `whenthen dev`, which has one of its own."""
    parser = argparse.ArgumentParser(
        prog="whenthen",
        description="Commands against the deployment that WHENTHEN_URL and WHENTHEN_TOKEN name.",
        epilog="exit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 unauthorised, 5 unreachable",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("dev", help="run the whole engine on this machine (dev --help for more)")
    _command(
        commands, "demo", demo.run, "fire one event and show its run, on a stack of its own if none"
    )
    _automations(_group(commands, "automations", "automations, also as YAML files"))
    _runs(_group(commands, "runs", "look at runs, and bring them back"))
    _others(commands)
    _deployment(commands)
    return parser


def _automations(commands: "Commands") -> None:
    listing = _command(commands, "list", automations.list_automations, "all automations")
    listing.add_argument("--status", help="only those; ARCHIVED ones are shown only so")
    _limit(listing)
    _workspace(listing)
    _json(listing)
    showing = _command(commands, "show", automations.show_automation, "one automation, as YAML")
    showing.add_argument("automation", metavar="AUTOMATION", help="its id or its name")
    _workspace(showing)
    _json(showing)
    applying = _command(
        commands, "apply", apply.apply, "make automations what the files say, and nothing else"
    )
    applying.add_argument("files", metavar="FILE", nargs="+", help="YAML; - reads standard input")
    applying.add_argument("--dry-run", action="store_true", help="show what would change, only")
    applying.add_argument("--yes", action="store_true", help="do not ask")
    applying.add_argument(
        "--show-webhooks", action="store_true", help="show the URLs of new webhooks, once"
    )
    _workspace(applying)
    _json(applying)
    exporting = _command(commands, "export", automations.export, "all automations as YAML")
    _workspace(exporting)


def _runs(commands: "Commands") -> None:
    listing = _command(commands, "list", runs.list_runs, "runs, newest first")
    listing.add_argument(
        "automation", metavar="AUTOMATION", nargs="?", help="only of this one, by id or name"
    )
    listing.add_argument("--root", metavar="RUN", help="this run and all that it led to")
    _filters(listing)
    _limit(listing)
    _workspace(listing)
    _json(listing)
    _one_run(_command(commands, "show", runs.show_run, "one run: steps and log"))
    tailing = _command(commands, "tail", runs.tail_run, "follow one run until it has ended")
    _one_run(tailing)
    _timeout(tailing, _TAIL_S)
    retrying = _command(commands, "retry", runs.retry_run, "bring one ended run back")
    _one_run(retrying)
    retrying.add_argument(
        "--from",
        dest="from_",
        default="failed",
        metavar="POINT",
        help="failed (the default), start, or the index of an action, from 0",
    )
    retrying.add_argument("--version", choices=("original", "latest"), default="original")
    retrying.add_argument("--tail", action="store_true", help="follow it to its new end")
    _timeout(retrying, _TAIL_S)
    redriving = _command(commands, "redrive", redrive.redrive, "bring back all that match")
    redriving.add_argument("--automation", metavar="AUTOMATION", help="only of this one")
    _filters(redriving, ("FAILED", "DEAD_LETTER"))
    redriving.add_argument("--dry-run", action="store_true", help="count them, only")
    redriving.add_argument("--yes", action="store_true", help="do not ask")
    redriving.add_argument("--no-wait", action="store_true", help="do not wait for their end")
    _timeout(redriving, _REDRIVE_S)
    _workspace(redriving)
    _json(redriving)


def _others(commands: "Commands") -> None:
    sending = _command(
        _group(commands, "events", "events of your own"), "send", events.send, "report events"
    )
    sending.add_argument(
        "file", metavar="FILE", help="JSON: one event, a list, or one a line; - reads stdin"
    )
    _workspace(sending)
    _json(sending)
    previewing = _command(
        _group(commands, "cron", "schedules"), "preview", cron.preview, "when it would fire"
    )
    previewing.add_argument("expression", metavar="CRON", help='such as "0 9 * * mon-fri"')
    previewing.add_argument("--tz", metavar="ZONE", help="such as Europe/Berlin; else UTC")
    previewing.add_argument("--after", metavar="INSTANT", help="from then on; else from now on")
    previewing.add_argument("--count", type=int, help="so many, 1 to 50; else 5")
    _json(previewing)
    making = _command(
        _group(commands, "tokens", "your own API tokens"), "create", tokens.create, "a new one"
    )
    making.add_argument("name", metavar="NAME", help="what it is for")
    making.add_argument("--expires", metavar="WHEN", help="in days (90d), or an instant")
    _json(making)


def _deployment(commands: "Commands") -> None:
    invoking = _command(commands, "invoke", invoke.run, "give a function one event")
    invoking.add_argument("function", metavar="FUNCTION", help="as the template names it, or ARN")
    invoking.add_argument("event", metavar="FILE", help="the event as JSON; - reads it from stdin")
    _where(invoking)
    migrating = _command(commands, "migrate", deployments.migrate, "bring the schema up to date")
    _where(migrating)
    _json(migrating)
    first = _command(
        commands, "bootstrap", deployments.bootstrap, "the first workspace, its OWNER, a token"
    )
    first.add_argument("--workspace", metavar="NAME", required=True)
    first.add_argument("--email", metavar="ADDRESS", required=True, help="the OWNER's")
    first.add_argument("--another", action="store_true", help="though there is one already")
    _where(first)
    _json(first)


def _group(commands: "Commands", name: str, told: str) -> "Commands":
    group = commands.add_parser(name, help=told, description=told)
    return group.add_subparsers(required=True, metavar="COMMAND")


def _command(
    commands: "Commands", name: str, run: Callable[[Any], int], told: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=told, description=told)
    parser.set_defaults(command=run)
    return parser


def _one_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("automation", metavar="AUTOMATION", help="its id or its name")
    parser.add_argument("run", metavar="RUN", nargs="?", help="the run's id; else the newest")
    _workspace(parser)
    _json(parser)


def _filters(parser: argparse.ArgumentParser, statuses: tuple[str, ...] | None = None) -> None:
    parser.add_argument("--status", choices=statuses, help="only runs of this status")
    parser.add_argument("--record", metavar="ID", help="only runs about this record")
    parser.add_argument("--from", dest="from_", metavar="INSTANT", help="created from then on")
    parser.add_argument("--to", metavar="INSTANT", help="created before")


def _where(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stack", metavar="NAME", help="of CloudFormation: the deployed engine")
    parser.add_argument("--region", help="of that stack; else that of the AWS environment")
    parser.add_argument(
        "--data", type=Path, default=Path(".whenthen"), help="of a running local stack (.whenthen)"
    )


def _workspace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workspace", metavar="NAME", help="or id; else WHENTHEN_WORKSPACE, else your only one"
    )


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")


def _limit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=_positive, default=runs.LIMIT, help="so many at most (50)")


def _timeout(parser: argparse.ArgumentParser, default_s: int) -> None:
    parser.add_argument(
        "--timeout", type=_positive, default=default_s, metavar="SECONDS", help=f"({default_s})"
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number
