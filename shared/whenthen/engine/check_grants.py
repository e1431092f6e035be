"""What a person without a role in the workspace, with grants on databases only, may write down.

Runs act for the workspace, so an automation could reach what its author cannot. Its author may
therefore name only what their grants cover, and name it: an id that is a template, and so comes
with an event, could be any of the workspace's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from whenthen.domain.errors import ForbiddenError
from whenthen.domain.ids import parse_id
from whenthen.domain.rules.interpolation import check_templates
from whenthen.domain.rules.permissions import Level
from whenthen.domain.schemas.templated import has_template
from whenthen.engine.identify import Caller
from whenthen.store import records

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

# The keys under which an action's config names rows; `userIds` is a list.
_ID_KEYS: Final = ("databaseId", "recordId", "parentId", "userIds")


def check_grants(
    connection: "Connection",
    caller: Caller,
    database_ids: Iterable[UUID],
    action_configs: Sequence[Mapping[str, Any]],
) -> None:
    """Return when the caller has a role, or their grants (EDIT) cover all that is named.

    `database_ids` are those that triggers, actions and the automation itself name.

    Raises:
        ForbiddenError: a database, or the database of a record, is not covered; an id is a
            template; a secret is used.

    """
    allowed = caller.access.only_databases(Level.EDIT)
    if allowed is None:
        return
    if not allowed.issuperset(database_ids):
        raise _forbidden("a grant is needed on every database that is named")
    if any(has_template(one) for config in action_configs for one in _ids(config)):
        raise _forbidden("ids that are templates need a role in the workspace")
    if any(_uses_secrets(config) for config in action_configs):
        raise _forbidden("secrets need a role in the workspace")
    # `from_trigger` is no id; a run sees it within its automation's own database only.
    named = {
        found
        for config in action_configs
        if (found := parse_id(str(config.get("recordId")))) is not None
    }
    if named and records.ids_in(connection, allowed, named) != named:
        raise _forbidden("a grant is needed on the database of every record that is named")


def _ids(config: Mapping[str, Any]) -> Iterator[str]:
    for key in _ID_KEYS:
        value = config.get(key)
        yield from value if isinstance(value, list) else [str(value)]


def _uses_secrets(config: Mapping[str, Any]) -> bool:
    found = check_templates(config, secrets_allowed=lambda _: False)
    return any(problem.code == "SECRET_INVALID" for problem in found)


def _forbidden(message: str) -> ForbiddenError:
    return ForbiddenError("FORBIDDEN", message)
