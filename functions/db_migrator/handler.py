"""Brings the schema to this release: for CloudFormation at a deployment, or when told to."""

from typing import Any, Protocol

from db_migrator.cloudformation import serve
from whenthen.engine.bootstrap import bootstrap
from whenthen.engine.composition import process_context
from whenthen.engine.migrate_schema import migrate_schema

# Time to answer in, three failed tries of it included.
_RESERVE_MS = 40_000


class LambdaContext(Protocol):
    def get_remaining_time_in_millis(self) -> int: ...


def lambda_handler(event: dict[str, Any], lambda_context: LambdaContext) -> dict[str, Any]:
    """Apply what is missing and return it: `{"applied": ["0001_initial.sql"], "version": …}`.

    `{"action": "migrate"}` is what operators send, and any failure is raised to them. A request of
    CloudFormation (`Custom::Migration`) is answered at its own URL, failures too. `{"action":
    "bootstrap", "workspace", "email", "another"?}` makes the first workspace (engine/bootstrap.py).
    """

    def work() -> dict[str, Any]:
        left_ms = lambda_context.get_remaining_time_in_millis()
        context = process_context("db-migrator")
        migrated = migrate_schema(context, max(1, left_ms - _RESERVE_MS) / 1000)
        return {"applied": migrated.applied, "version": migrated.version}

    if "ResponseURL" in event:
        return serve(event, work)
    if event.get("action") == "bootstrap":
        return bootstrap(process_context("db-migrator"), event)
    if event != {"action": "migrate"}:
        raise ValueError('the event is neither {"action": "migrate"} nor one of CloudFormation')
    return work()
