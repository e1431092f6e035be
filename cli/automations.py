"""`whenthen automations`: list, show, and automations as YAML: apply and export."""

import argparse
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final

from cli.api import Api, RefusedError, api_from_environment, segment
from cli.database_names import DatabaseNames
from cli.definitions import as_document, foreign_ids, present_definition
from cli.exits import FAILED, NOT_FOUND, CommandError
from cli.shapes import Shapes
from cli.terminal import Progress, note, print_json, print_table
from cli.workspaces import is_id, workspace_of
from cli.yaml_text import yaml_text

# Headers whose values are credentials.
_CREDENTIAL: Final = re.compile(
    r"authorization|cookie|token|secret|password|signature|api[-_]?key|credential", re.IGNORECASE
)


def list_automations(options: argparse.Namespace) -> int:
    """Print the workspace's automations."""
    api = api_from_environment()
    path = f"/workspaces/{segment(workspace_of(api, options.workspace))}/automations"
    rows = api.all(path, {"status": options.status}, options.limit)
    if options.json:
        print_json(rows)
        return 0
    print_table(
        ("id", "name", "status", "triggers", "actions", "latest run"),
        [
            (
                row["id"],
                row["name"],
                row["status"],
                ", ".join(row["triggers"]),
                len(row["actions"]),
                row["latestRun"] and row["latestRun"]["status"],
            )
            for row in rows
        ],
    )
    return 0


def show_automation(options: argparse.Namespace) -> int:
    """Print one automation: where it stands, then its definition as YAML."""
    api = api_from_environment()
    automation_id = automation_of(api, options.automation, options.workspace)
    detail = api.call("GET", f"/automations/{automation_id}")
    if options.json:
        print_json(detail)
        return 0
    latest = detail["latestRun"]
    print(f"# {detail['id']}  version {detail['version']}  changed {detail['updatedAt']}")
    print(f"# latest run: {latest['id']} {latest['status']}" if latest else "# no run yet")
    definition = present_definition(detail, Shapes(api.contract()))
    names = names_of(api, detail["workspaceId"])
    print(yaml_text([as_document(definition, detail["status"], names)]), end="")
    return 0


def export(options: argparse.Namespace) -> int:
    """Print every automation as YAML, by name; 1 when one would give a secret away."""
    api = api_from_environment()
    workspace_id = workspace_of(api, options.workspace)
    shapes, names = Shapes(api.contract()), names_of(api, workspace_id)
    documents = sorted(
        _documents(api, workspace_id, shapes, names), key=lambda one: str(one["name"])
    )
    kept_back = [one for one in documents if _written_out_secrets(one)]
    shown = [one for one in documents if one not in kept_back]
    _tell(shown, kept_back)
    sys.stdout.write(yaml_text(shown))
    return FAILED if kept_back else 0


def automation_of(api: Api, named: str, workspace: str | None) -> str:
    """Return the id of the automation that is named by id or name.

    Raises:
        CommandError: there is none of that name, or more than one.

    """
    if is_id(named):
        return named
    path = f"/workspaces/{segment(workspace_of(api, workspace))}/automations"
    ids = [one["id"] for one in api.all(path) if one["name"] == named]
    if not ids:
        raise CommandError(f"there is no automation {named}", NOT_FOUND)
    if len(ids) > 1:
        raise CommandError(f"{len(ids)} automations have the name {named}: {', '.join(ids)}")
    return str(ids[0])


def names_of(api: Api, workspace_id: str) -> DatabaseNames:
    """Return the workspace's databases by name; none to whoever has a grant only."""
    try:
        return DatabaseNames(api.all(f"/workspaces/{segment(workspace_id)}/databases"))
    except RefusedError as error:
        if error.status == 404:
            return DatabaseNames(())
        raise


def _documents(
    api: Api, workspace_id: str, shapes: Shapes, names: DatabaseNames
) -> list[dict[str, Any]]:
    summaries = api.all(f"/workspaces/{segment(workspace_id)}/automations")
    documents = []
    with Progress("export", len(summaries)) as progress:
        for n, one in enumerate(summaries, 1):
            detail = api.call("GET", f"/automations/{one['id']}")
            documents.append(
                as_document(present_definition(detail, shapes), detail["status"], names)
            )
            progress.show(n)
    return documents


def _tell(shown: Iterable[Mapping[str, Any]], kept_back: Iterable[Mapping[str, Any]]) -> None:
    names = [str(one["name"]) for one in shown]
    for name in sorted({name for name in names if names.count(name) > 1}):
        note(f"whenthen: {name}: two have this name, so apply will refuse the file")
    for one in shown:
        for path in foreign_ids(one):
            note(f"whenthen: {one['name']}: {path} is an id of this workspace only")
    for one in kept_back:
        for path in _written_out_secrets(one):
            note(
                f"whenthen: {one['name']} is left out: {path} is written out; keep it as"
                " a secret of the workspace and write {{secrets.NAME}}"
            )


def _written_out_secrets(document: Mapping[str, Any]) -> list[str]:
    """Return the paths of credentials in a definition that are no templates."""
    return [
        f"actions[{n}].config.{path}"
        for n, one in enumerate(document.get("actions", ()))
        for path, value in _credentials(one["config"])
        if "{{" not in str(value)
    ]


def _credentials(config: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    if "signingSecret" in config:
        yield "signingSecret", config["signingSecret"]
    for header, value in config.get("headers", {}).items():
        if _CREDENTIAL.search(header):
            yield f"headers.{header}", value
