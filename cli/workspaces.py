"""Which workspace a command is about."""

import os
import re
from typing import Final

from cli.api import Api
from cli.exits import NOT_FOUND, CommandError

_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def is_id(text: str) -> bool:
    """Return whether `text` has the form of an id."""
    return _ID.fullmatch(text) is not None


def workspace_of(api: Api, named: str | None) -> str:
    """Return the id of the workspace that is named by id or name, here or in WHENTHEN_WORKSPACE.

    Without a name it is the caller's only one.

    Raises:
        CommandError: there is none of that name, or nothing says which of several.

    """
    wanted = named or os.environ.get("WHENTHEN_WORKSPACE")
    if wanted and is_id(wanted):
        return wanted
    mine = api.call("GET", "/me")["workspaces"]
    fitting = [one for one in mine if wanted in {None, "", one["name"]}]
    if len(fitting) == 1:
        return str(fitting[0]["id"])
    names = ", ".join(f"{one['name']} ({one['id']})" for one in mine) or "none"
    if not fitting:
        which = f"named {wanted}" if wanted else "of yours"
        raise CommandError(f"there is no workspace {which}; yours are: {names}", NOT_FOUND)
    raise CommandError(f"say which workspace with --workspace NAME or ID; yours are: {names}")
