"""A workspace's history of up to a million runs, written by the server itself, oldest first."""

import psycopg

from bench.triage import Triage

# A run every 8.64 s is 10,000 a day, however long the history: a window of time always holds as
# many runs, once there are that many.
SPACING_S = 8.64
RUNS_PER_DAY = 10_000
# One run in so many has failed, is dead, and belongs to a chain.
FAILED, DEAD, CHAINED = 50, 500, 10
RECORDS = 200
# The second automation has failed ever since.
LAST_SUCCESS = 100
# One run in so many has its steps and its log; of the others only the runs are there.
WITH_STEPS = 10


def add_runs(url: str, triage: Triage, first: int, last: int) -> None:
    """Add the runs number `first` to `last` of the workspace of `triage`, spread over automations.

    Of all runs the newest five are RUNNING; those of an earlier call have ended by now.
    """
    values = {
        "workspace_id": triage.workspace_id,
        "first": first,
        "last": last,
        "spacing_s": SPACING_S,
        "failed": FAILED,
        "dead": DEAD,
        "chained": CHAINED,
        "records": RECORDS,
        "last_success": LAST_SUCCESS,
        "with_steps": WITH_STEPS,
    }
    with psycopg.connect(url, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
        for statement in (_END_RUNNING, _RUNS, _STEPS, _LOGS):
            connection.execute(statement, values)
        # As the server does by itself within a minute.
        for table in ("automation_runs", "automation_run_steps", "automation_logs"):
            connection.execute(f"vacuum analyze {table}")


_END_RUNNING = """
update automation_runs set status = 'SUCCEEDED', finished_at = started_at
where status = 'RUNNING' and workspace_id = %(workspace_id)s
"""
# Ids are UUIDs of version 7 with the run's own time, as those that the engine gives.
_RUNS = """
with automation as materialized (
    select id, row_number() over (order by id) - 1 as place, count(*) over () as in_all
    from automations where workspace_id = %(workspace_id)s
),
run as (
    select n, timestamptz '2026-01-01 00:00:00Z' + interval '1 second' * %(spacing_s)s * n as at,
        automation.id as automation_id,
        case when n > %(last)s - 5 then 'RUNNING' when n %% %(dead)s = 0 then 'DEAD_LETTER'
            when n %% %(failed)s = 0 then 'FAILED'
            when automation.place = 1 and n > %(last_success)s then 'FAILED'
            else 'SUCCEEDED' end as status,
        n %% %(chained)s = 0 as is_chained,
        cast(jsonb_build_object('type', 'record.created', 'payload', jsonb_build_object(
            'recordId', gen_random_uuid(), 'databaseId', gen_random_uuid(),
            'properties', jsonb_build_object('Name', 'Ticket', 'Status', 'B'))) as jsonb) as input
    from generate_series(%(first)s, %(last)s) n
    join automation on automation.place = n / %(chained)s %% automation.in_all
)
insert into automation_runs (id, automation_id, version, workspace_id, event_id, trigger_type,
    record_id, status, input, root_run_id, parent_run_id, due_at, created_at, started_at,
    finished_at, output, error)
select uuidv7(run.at - now()), run.automation_id, 1, %(workspace_id)s, 'evt:' || run.n,
    'record.created', 'record-' || run.n %% %(records)s, run.status, run.input, gen_random_uuid(),
    case when run.is_chained then gen_random_uuid() end, run.at, run.at, run.at,
    case when run.status <> 'RUNNING' then run.at + interval '40 milliseconds' end,
    case when run.status = 'SUCCEEDED' then jsonb_build_object('actions', jsonb_build_object()) end,
    case when run.status in ('FAILED', 'DEAD_LETTER') then jsonb_build_object('code', 'UNEXPECTED',
        'message', 'ValueError') end
from run
"""
_STEPS = """
insert into automation_run_steps (run_id, generation, action_id, index, type, status, attempts,
    output, ms, started_at, finished_at)
select r.id, 0, gen_random_uuid(), step.index, step.type, 'SUCCEEDED', 1,
    jsonb_build_object('recordId', gen_random_uuid()), 1, r.created_at, r.created_at
from automation_runs r
cross join (values (0, 'UPDATE_RECORD'), (1, 'CREATE_NOTIFICATION')) step (index, type)
where r.workspace_id = %(workspace_id)s
    and cast(substr(r.event_id, 5) as integer) between %(first)s and %(last)s
    and cast(substr(r.event_id, 5) as integer) %% %(with_steps)s = 1
"""
_LOGS = """
insert into automation_logs (run_id, level, message, data, created_at)
select r.id, 'info', line.message, jsonb_build_object('ms', 1), r.created_at
from automation_runs r
cross join (values ('run created'), ('run started'), ('action 1/2 UPDATE_RECORD started'),
    ('action 1/2 UPDATE_RECORD done'), ('action 2/2 CREATE_NOTIFICATION started'),
    ('action 2/2 CREATE_NOTIFICATION done'), ('run completed')) line (message)
where r.workspace_id = %(workspace_id)s
    and cast(substr(r.event_id, 5) as integer) between %(first)s and %(last)s
    and cast(substr(r.event_id, 5) as integer) %% %(with_steps)s = 1
"""
