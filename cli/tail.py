"""`whenthen runs tail`: the log of one run as it grows, until the run has ended."""

import time
from collections.abc import Sequence
from typing import Any, Final

from cli import json_text
from cli.api import Api
from cli.exits import FAILED, UNREACHABLE, CommandError
from cli.run_lines import TERMINAL, end_line, log_line, step_line
from cli.terminal import note

_POLL_MIN_S: Final = 0.2
# A run may lie in a DELAY for days.
_POLL_MAX_S: Final = 5.0
# So long a deployment may be out of reach while somebody looks on.
_GRACE_S: Final = 60


def follow(
    api: Api, path: str, timeout_s: float, *, as_json: bool = False, seen: Sequence[Any] = ()
) -> int:
    """Print log lines as they come, then the steps; 0 only when the run SUCCEEDED.

    Lines that were `seen` before are left out. As JSON each line is one object, the run itself
    the last.

    Raises:
        CommandError: not ended within `timeout_s`, or out of reach for longer than a minute.

    """
    deadline = time.monotonic() + timeout_s
    poll_s = _POLL_MIN_S
    while True:
        run = _looked(api, path, deadline)
        new = unseen(seen, run["logs"])
        for line in new:
            print(json_text.dumps(line) if as_json else log_line(line), flush=True)
        seen = run["logs"]
        if run["status"] in TERMINAL:
            return _ended(run, as_json=as_json)
        poll_s = _POLL_MIN_S if new else min(poll_s * 1.5, _POLL_MAX_S)
        if time.monotonic() + poll_s >= deadline:
            told = f"the run has not ended after {timeout_s:g} s: it is {run['status']}"
            raise CommandError(told, FAILED)
        time.sleep(poll_s)


def unseen(seen: Sequence[Any], lines: Sequence[Any]) -> list[Any]:
    """Return those of `lines` that come after the ones seen.

    The API shows the newest thousand lines, so the ones seen may have moved out at the front.
    """
    for begin in range(len(seen)):
        if list(lines[: len(seen) - begin]) == list(seen[begin:]):
            return list(lines[len(seen) - begin :])
    return list(lines)


def _looked(api: Api, path: str, deadline: float) -> Any:
    patience = min(time.monotonic() + _GRACE_S, deadline)
    while True:
        try:
            return api.call("GET", path)
        except CommandError as error:
            if error.exit_code != UNREACHABLE or time.monotonic() + _POLL_MAX_S > patience:
                raise
            note(f"whenthen: {error}; trying again")
            time.sleep(_POLL_MAX_S)


def _ended(run: Any, *, as_json: bool) -> int:
    if as_json:
        print(json_text.dumps(run), flush=True)
    else:
        for step in run["steps"]:
            print(step_line(step))
        print(end_line(run), flush=True)
    return 0 if run["status"] == "SUCCEEDED" else FAILED
