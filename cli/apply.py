"""`whenthen automations apply`: compare, show, ask, do."""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from cli.api import Api, api_from_environment, segment
from cli.automation_apply import carry_out
from cli.automation_plan import Change, found_by_name, planned, repeated_names
from cli.automations import names_of
from cli.database_names import DatabaseNames
from cli.definitions import Wanted, read_document
from cli.exits import FAILED, UNAUTHORISED, UNREACHABLE, USAGE, CommandError
from cli.shapes import Shapes
from cli.terminal import Progress, coloured, confirmed, note, print_json, printable
from cli.workspaces import workspace_of
from cli.yaml_files import Document, read_files

_MARKS: Final = {"create": "+", "change": "~", "archive": "-"}
_COLOURS: Final = {"+": "green", "-": "red", "~": "yellow", "@": "cyan"}
_DONE: Final = {"create": "created", "change": "changed", "archive": "archived"}


def apply(options: argparse.Namespace) -> int:
    """Make the workspace's automations what the files say, after showing what that changes."""
    if options.json and not (options.yes or options.dry_run):
        raise CommandError("--json asks nobody: say --yes or --dry-run too")
    documents = read_files(options.files)
    api = api_from_environment()
    workspace_id = workspace_of(api, options.workspace)
    changes = _changes(api, workspace_id, documents)
    pending = [one for one in changes if one.kind != "keep"]
    if not options.json:
        _show(changes, pending)
    done: dict[str, dict[str, Any]] = {}
    exit_code = 0
    if pending and not options.dry_run:
        if not (options.yes or confirmed("Do it?")):
            note("nothing was done")
            return FAILED
        done, exit_code = _carry_out(api, workspace_id, pending, options)
    if options.json:
        print_json([_as_json(one, done.get(one.wanted.name)) for one in changes])
    return exit_code


def _changes(api: Api, workspace_id: str, documents: Sequence[Document]) -> list[Change]:
    shapes, names = Shapes(api.contract()), names_of(api, workspace_id)
    wanted = _read(documents, shapes, names)
    present = api.all(f"/workspaces/{segment(workspace_id)}/automations")
    found, problems = found_by_name(wanted, present)
    _refuse(problems, FAILED)
    changes = []
    with Progress("compare", len(wanted)) as progress:
        for n, one in enumerate(wanted, 1):
            known = found.get(one.name)
            detail = api.call("GET", f"/automations/{known}") if known else None
            try:
                changes.append(planned(one, detail, shapes, names))
            except ValueError as error:
                path, _, told = str(error).partition(": ")
                problems.append(one.document.problem(path, told))
            progress.show(n)
    _refuse(problems, FAILED)
    return changes


def _read(documents: Sequence[Document], shapes: Shapes, names: DatabaseNames) -> list[Wanted]:
    read = [read_document(one, shapes, names) for one in documents]
    wanted = [one for one, _ in read if one is not None]
    _refuse([told for _, problems in read for told in problems] + repeated_names(wanted), USAGE)
    return wanted


def _refuse(problems: Sequence[str], exit_code: int) -> None:
    if problems:
        raise CommandError("nothing was done:\n" + "\n".join(problems), exit_code)


def _show(changes: Sequence[Change], pending: Sequence[Change]) -> None:
    for one in pending:
        mark = _MARKS[one.kind]
        head = f"{mark} {printable(one.wanted.name)}  ({one.wanted.document.place})"
        print(coloured(head, "bold", sys.stdout))
        for line in one.diff:
            colour = _COLOURS.get(line[:1])
            text = f"    {printable(line)}"
            print(coloured(text, colour, sys.stdout) if colour else text)
    kinds = Counter(one.kind for one in changes)
    print(
        f"{kinds['create']} to create, {kinds['change']} to change, {kinds['archive']} to archive,"
        f" {kinds['keep']} as they should be",
        flush=True,
    )


def _carry_out(
    api: Api, workspace_id: str, pending: Sequence[Change], options: argparse.Namespace
) -> tuple[dict[str, dict[str, Any]], int]:
    """Do each change; return what became of it by its name, and the exit code."""
    done: dict[str, dict[str, Any]] = {}
    exit_code = 0
    for one in pending:
        name = one.wanted.name
        try:
            webhook = carry_out(api, workspace_id, one)
            done[name] = {"done": True, "webhook": webhook if options.show_webhooks else None}
            if not options.json:
                print(f"{_DONE[one.kind]} {printable(name)}", flush=True)
            _tell_webhook(name, webhook, options)
        except CommandError as error:
            if error.exit_code in {UNAUTHORISED, UNREACHABLE}:
                raise
            note(f"whenthen: {error}")
            done[name] = {"done": False, "problem": str(error)}
            exit_code = FAILED
    return done, exit_code


def _tell_webhook(
    name: str, webhook: Mapping[str, Any] | None, options: argparse.Namespace
) -> None:
    if webhook is None or (options.json and options.show_webhooks):
        return
    if options.show_webhooks:
        print(f"  webhook {webhook['url']}  secret {webhook['secret']}  (shown this once)")
    else:
        note(
            f"whenthen: {name} has a new webhook; its URL is a secret and is shown only"
            " with --show-webhooks: have a new one made by POST …/webhook/regenerate"
        )


def _as_json(change: Change, done: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "name": change.wanted.name,
        "file": change.wanted.document.file,
        "document": change.wanted.document.number,
        "change": change.kind,
        "diff": list(change.diff),
        **(done or {"done": False}),
    }
