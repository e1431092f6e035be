"""Thousands of ACTIVE automations at once, written by the server itself: they match nothing."""

import psycopg

from bench.triage import AUTOMATIONS, CONDITION, Triage
from whenthen.domain import json_text


def add_here(url: str, triage: Triage, n: int) -> None:
    """Add `n` automations to the workspace of `triage`, on records of its other database."""
    _write(url, _HERE, triage, n)


def add_elsewhere(url: str, triage: Triage, n: int) -> None:
    """Add `n` automations, ten to a workspace, each on records of its workspace's database."""
    _write(url, _ELSEWHERE, triage, n)


def _write(url: str, places: str, triage: Triage, n: int) -> None:
    values = {
        "n": n,
        "each": AUTOMATIONS,
        "workspace_id": triage.workspace_id,
        "database_id": triage.other_database_id,
        "condition": json_text.dumps(CONDITION),
    }
    with psycopg.connect(url, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
        if n > 0:
            with connection.transaction():
                connection.execute(places, values)
                for statement in _AUTOMATIONS:
                    connection.execute(statement, values)
        # As the server does by itself within a minute: else its first plans would be guesses.
        connection.execute("vacuum analyze automations")
        connection.execute("vacuum analyze automation_triggers")


_HERE = """
create temporary table added on commit drop as
select uuidv7() as id, uuidv7() as trigger_id, cast(%(workspace_id)s as uuid) as workspace_id,
    cast(%(database_id)s as uuid) as database_id
from generate_series(1, %(n)s)
"""
_ELSEWHERE = """
create temporary table added on commit drop as
with place as materialized (
    select uuidv7() as workspace_id, uuidv7() as database_id
    from generate_series(1, cast(ceil(cast(%(n)s as numeric) / %(each)s) as integer))
),
workspace as (
    insert into workspaces (id, name) select workspace_id, 'Elsewhere' from place
),
database as (
    insert into databases (id, workspace_id, name, properties)
    select database_id, workspace_id, 'Tickets', '[]' from place
)
select uuidv7() as id, uuidv7() as trigger_id, place.*
from place cross join generate_series(1, %(each)s)
limit %(n)s
"""
_AUTOMATIONS = (
    """
    insert into automations (id, workspace_id, name, database_id, status, active_since)
    select id, workspace_id, 'Triage', database_id, 'ACTIVE', whenthen_now() from added
    """,
    """
    insert into automation_versions (automation_id, version, schema, name, database_id, triggers,
        condition, actions)
    select id, 1, 1, 'Triage', database_id,
        jsonb_build_array(jsonb_build_object('id', trigger_id, 'type', 'RECORD_CREATED',
            'config', jsonb_build_object())),
        cast(%(condition)s as jsonb), '[]' from added
    """,
    """
    insert into automation_triggers (id, automation_id, position, type, workspace_id, scope_id,
        config)
    select trigger_id, id, 0, 'RECORD_CREATED', workspace_id, database_id, '{}' from added
    """,
)
