"""Databases as admins manage them."""

from typing import TYPE_CHECKING
from uuid import UUID

from whenthen.domain.errors import NotFoundError
from whenthen.domain.rules.property_schema import normalise_schema
from whenthen.domain.rules.same_value import same_value
from whenthen.domain.schemas.data import CreateDatabase, PatchDatabase
from whenthen.engine.identify import Caller
from whenthen.store import database_rows
from whenthen.store.database_rows import DatabaseRow
from whenthen.store.paging import Page, PageRequest

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def databases_of(
    connection: "Connection", caller: Caller, request: PageRequest
) -> Page[DatabaseRow]:
    """Return a page of the workspace's databases."""
    return database_rows.page(connection, caller.workspace_id, request)


def database(connection: "Connection", database_id: UUID) -> DatabaseRow:
    """Return a database that the caller may see.

    Raises:
        NotFoundError: there is none.

    """
    found = database_rows.get(connection, database_id)
    if found is None:
        raise NotFoundError
    return found


def create(connection: "Connection", caller: Caller, body: CreateDatabase) -> DatabaseRow:
    """Make a database with these properties; options that have no id get one."""
    properties = normalise_schema([one.to_json() for one in body.properties])
    return database_rows.insert(connection, caller.workspace_id, body.name, properties)


def patch(connection: "Connection", database_id: UUID, body: PatchDatabase) -> DatabaseRow:
    """Change what the body names; archived, it is known to no automation until it is back.

    Raises:
        NotFoundError: there is none.

    """
    before = database_rows.lock(connection, database_id)
    if before is None:
        raise NotFoundError
    given = body.model_fields_set
    name = body.name if "name" in given else before.name
    archived = body.archived if "archived" in given else before.archived_at is not None
    properties = (
        normalise_schema([one.to_json() for one in body.properties])
        if "properties" in given
        else before.properties
    )
    was = (before.name, before.archived_at is not None)
    if (name, archived) == was and same_value(properties, before.properties):
        return before
    return database_rows.update(connection, database_id, name, properties, archived=archived)
