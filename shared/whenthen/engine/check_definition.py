"""Whether a definition may be saved: databases, schedules, templates, the author's own rights."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from whenthen.domain.errors import InvalidError
from whenthen.domain.ids import parse_id
from whenthen.domain.rules.interpolation import TemplateProblem, check_templates
from whenthen.domain.rules.template_places import may_hold_secret
from whenthen.domain.schemas.actions import Action
from whenthen.domain.schemas.triggers import ScheduleClock, Trigger
from whenthen.engine.check_grants import check_grants
from whenthen.engine.check_schedules import check_schedules
from whenthen.engine.check_urls import check_urls
from whenthen.engine.identify import Caller
from whenthen.store import clock, database_rows

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


class _Named(NamedTuple):
    """A database that a definition names, and where."""

    path: str
    id: UUID


def check_definition(
    connection: "Connection",
    caller: Caller,
    *,
    database_id: UUID | None = None,
    triggers: Sequence[Trigger] = (),
    actions: Sequence[Action] = (),
) -> None:
    """Return when these parts of a definition may be saved by the caller.

    Raises:
        ForbiddenError: as `check_grants`.
        InvalidError: `DATABASE_UNKNOWN`, a database is unknown, archived or another workspace's;
            `CRON_INVALID`, `CRON_TOO_FREQUENT` or `TIME_ZONE_INVALID`, a schedule cannot be;
            `TEMPLATE_INVALID` or `SECRET_INVALID`, a template cannot be;
            `WEBHOOK_URL_FORBIDDEN`, as `check_urls`.

    """
    configs = [(f"actions[{n}].config", one, one.config.to_json()) for n, one in enumerate(actions)]
    named = list(_named_databases(database_id, triggers, [(p, c) for p, _, c in configs]))
    ids = [one.id for one in named]
    check_grants(connection, caller, ids, [config for _, _, config in configs])
    _check_databases(connection, caller, named)
    _check_schedules(connection, triggers)
    problems = [
        problem
        for path, action, config in configs
        for problem in check_templates(
            config, path=path, secrets_allowed=partial(may_hold_secret, action.type)
        )
    ]
    if problems:
        raise _invalid_template(problems)
    check_urls(actions)


def _named_databases(
    database_id: UUID | None,
    triggers: Sequence[Trigger],
    action_configs: Sequence[tuple[str, dict[str, Any]]],
) -> Iterator[_Named]:
    if database_id is not None:
        yield _Named("databaseId", database_id)
    configs = [(f"triggers[{n}].config", one.config.to_json()) for n, one in enumerate(triggers)]
    for path, config in [*configs, *action_configs]:
        # A template is no literal; what it yields is looked up when the action runs.
        found = parse_id(str(config.get("databaseId")))
        if found is not None:
            yield _Named(f"{path}.databaseId", found)


def _check_databases(connection: "Connection", caller: Caller, named: Sequence[_Named]) -> None:
    ids = {one.id for one in named}
    known = database_rows.active_ids(connection, caller.workspace_id, ids)
    unknown = [one.path for one in named if one.id not in known]
    if unknown:
        details = [
            {"path": path, "message": "no active database of this workspace", "type": "database"}
            for path in unknown
        ]
        raise InvalidError("DATABASE_UNKNOWN", "a database is unknown", details)


def _check_schedules(connection: "Connection", triggers: Sequence[Trigger]) -> None:
    clocks = [
        (("triggers", n, "config"), one.config)
        for n, one in enumerate(triggers)
        if isinstance(one.config, ScheduleClock)
    ]
    if clocks:
        check_schedules(clocks, clock.now(connection))


def _invalid_template(problems: Sequence[TemplateProblem]) -> InvalidError:
    details = [
        {"path": one.path, "message": one.message, "type": one.code.lower()} for one in problems
    ]
    return InvalidError(problems[0].code, "a template is not valid", details)
