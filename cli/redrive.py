"""`whenthen runs redrive`: bring back all failed runs that match; count, ask, do, look on."""

import argparse
import time
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from cli.api import Api, api_from_environment, segment
from cli.automations import automation_of
from cli.exits import FAILED, CommandError
from cli.runs import run_filter
from cli.terminal import Progress, confirmed, note, print_json
from cli.workspaces import workspace_of

_POLL_S: Final = 1.0
_FAILED: Final = ("FAILED", "DEAD_LETTER")
_UNDER_WAY: Final = ("PENDING", "RUNNING")
# Of the time; counting what is left walks through lists.
_LOOKING_SHARE: Final = 0.25


def redrive(options: argparse.Namespace) -> int:
    """Bring the runs back and wait for their end; 1 when some have failed again."""
    if options.json and not (options.yes or options.dry_run):
        raise CommandError("--json asks nobody: say --yes or --dry-run too")
    api = api_from_environment()
    path = f"/workspaces/{segment(workspace_of(api, options.workspace))}/runs"
    wanted = {name: value for name, value in run_filter(options).items() if value}
    if options.automation:
        wanted["automationId"] = automation_of(api, options.automation, options.workspace)
    count = _count(api, path, wanted)
    if options.dry_run or count == 0:
        return _told(options, {"count": count, "dryRun": True}, f"{count} runs would be retried")
    if not (options.yes or confirmed(f"Retry {count} runs, 50 a second?")):
        note("nothing was done")
        return FAILED
    before = _ends(api, path, wanted, _FAILED)
    answer = api.call("POST", f"{path}/redrive", wanted)
    if options.no_wait:
        return _told(options, answer, f"{answer['count']} runs are on their way")
    _wait(api, path, wanted, before, options.timeout)
    after = _ends(api, path, wanted, _FAILED)
    again = sum(id_ in before and before[id_] != end for id_, end in after.items())
    told = f"{answer['count']} runs were retried, {again} of them have failed again"
    return _told(options, {**answer, "failed": again}, told) or (FAILED if again else 0)


def _count(api: Api, path: str, wanted: dict[str, Any]) -> int:
    return int(api.call("POST", f"{path}/redrive", {**wanted, "dryRun": True})["count"])


def _told(options: argparse.Namespace, answer: dict[str, Any], text: str) -> int:
    if options.json:
        print_json(answer)
    else:
        print(text, flush=True)
    return 0


def _ends(
    api: Api, path: str, wanted: Mapping[str, Any], statuses: Iterable[str]
) -> dict[str, Any]:
    """Return when each matching run of these statuses ended, by its id."""
    return {
        run["id"]: run["finishedAt"]
        for status in statuses
        for run in api.all(path, {**wanted, "status": status})
    }


def _wait(
    api: Api, path: str, wanted: Mapping[str, Any], ids: Collection[str], timeout_s: float
) -> None:
    deadline = time.monotonic() + timeout_s
    with Progress("redrive", len(ids)) as progress:
        while True:
            began = time.monotonic()
            left = _ends(api, path, wanted, _UNDER_WAY).keys() & set(ids)
            if not left:
                return
            progress.show(len(ids) - len(left))
            if began > deadline:
                told = f"{len(left)} runs have not ended after {timeout_s:g} s; they go on"
                raise CommandError(told, FAILED)
            took_s = time.monotonic() - began
            time.sleep(max(_POLL_S, took_s / _LOOKING_SHARE - took_s))
