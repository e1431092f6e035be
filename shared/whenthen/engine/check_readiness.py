"""Whether this process can do its work now."""

from typing import TYPE_CHECKING

from whenthen.domain.errors import RetryableError
from whenthen.store.migrate import schema_version

if TYPE_CHECKING:
    from whenthen.engine.context import Context


def ready_schema(context: "Context") -> str:
    """Return the name of the database's newest migration.

    Raises:
        RetryableError: the database answers but was never migrated.

    """
    schema = context.database.transact(schema_version)
    if schema is None:
        raise RetryableError("NOT_MIGRATED", "the database has no schema yet")
    return schema
