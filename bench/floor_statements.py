"""The fewest statements that write the rows of one triage run: what any engine here must pay.

Each takes one JSON parameter and serves any number of runs, so that the same text can be run one
run at a time or ten to a transaction. They write what the engine writes (runs, steps, log lines,
outbox rows, the record, the notification), guarded by the lease as it guards; they check nothing,
decide nothing and could carry out no other automation.
"""

INSERT = """
with m as materialized (
    select * from jsonb_to_recordset(cast($1 as jsonb)) as m(id uuid, automation_id uuid,
        workspace_id uuid, event_id text, record_id text, input jsonb)
),
run as (
    insert into automation_runs (id, automation_id, version, workspace_id, event_id, trigger_type,
        record_id, status, input, root_run_id, enqueue_after)
    select id, automation_id, 1, workspace_id, event_id, 'record.created', record_id, 'PENDING',
        input, id, whenthen_now() + interval '60 seconds'
    from m order by automation_id, event_id
    on conflict do nothing
    returning id, event_id
)
insert into automation_logs (run_id, level, message, data)
select id, 'info', 'run created', jsonb_build_object('eventId', event_id) from run
"""

CLAIM = """
with m as materialized (
    select * from jsonb_to_recordset(cast($1 as jsonb)) as m(id uuid, lease uuid)
),
due as (
    select r.id, m.lease from automation_runs r join m using (id)
    where r.status = 'PENDING' order by r.id for update of r skip locked
),
claimed as (
    update automation_runs r
    set status = 'RUNNING', lease_token = due.lease, started_at = whenthen_now(),
        lease_expires_at = whenthen_now() + interval '200 seconds',
        enqueue_after = whenthen_now() + interval '230 seconds'
    from due where r.id = due.id
    returning r.id, r.automation_id, r.version, r.input
),
started as (
    insert into automation_run_steps (run_id, generation, action_id, index, type, status, attempts)
    select c.id, 0, cast(v.actions -> 0 ->> 'id' as uuid), 0, v.actions -> 0 ->> 'type',
        'STARTED', 1
    from claimed c join automation_versions v using (automation_id, version)
),
line as (
    insert into automation_logs (run_id, level, message, data)
    select id, 'info', 'run started', '{"attempt": 1}' from claimed
)
select c.id, c.input, v.actions, v.condition
from claimed c join automation_versions v using (automation_id, version)
"""

FIRST_STEP = """
with m as materialized (
    select * from jsonb_to_recordset(cast($1 as jsonb)) as m(id uuid, lease uuid, workspace_id uuid,
        record_id uuid, changes jsonb, action_id uuid, next_action_id uuid, output jsonb,
        event_id uuid, event jsonb, context jsonb)
),
moved as (
    update automation_runs r
    set next_action = 1, lease_expires_at = greatest(r.lease_expires_at,
        whenthen_now() + interval '30 seconds')
    from m where r.id = m.id and r.status = 'RUNNING' and r.lease_token = m.lease
    returning m.*
),
effect as (
    update records c set properties = c.properties || moved.changes, version = c.version + 1,
        updated_at = whenthen_now()
    from moved where c.workspace_id = moved.workspace_id and c.id = moved.record_id
),
tried as (
    update automation_run_steps s
    set status = 'SUCCEEDED', output = moved.output, ms = 1, finished_at = whenthen_now()
    from moved where s.run_id = moved.id and s.generation = 0 and s.action_id = moved.action_id
        and s.status <> 'SUCCEEDED'
),
started as (
    insert into automation_run_steps (run_id, generation, action_id, index, type, status, attempts)
    select id, 0, next_action_id, 1, 'CREATE_NOTIFICATION', 'STARTED', 1 from moved
),
line as (
    insert into automation_logs (run_id, level, message, data)
    select moved.id, 'info', l.message, jsonb_build_object('actionId', moved.action_id, 'ms', 1)
    from moved cross join (values ('action 1/2 UPDATE_RECORD started'),
        ('action 1/2 UPDATE_RECORD done'), ('action 2/2 CREATE_NOTIFICATION started')) l(message)
)
insert into outbox (id, workspace_id, event_id, type, payload, automation_context)
select event_id, workspace_id, cast(event_id as text), 'record.updated', event, context from moved
"""

LAST_STEP = """
with m as materialized (
    select * from jsonb_to_recordset(cast($1 as jsonb)) as m(id uuid, lease uuid, workspace_id uuid,
        user_id uuid, title text, notification_id uuid, action_id uuid, output jsonb,
        event_id uuid, event jsonb)
),
moved as (
    update automation_runs r
    set status = 'SUCCEEDED', next_action = 2, finished_at = whenthen_now(), output = m.output,
        lease_token = null, lease_expires_at = null, enqueue_after = null
    from m where r.id = m.id and r.status = 'RUNNING' and r.lease_token = m.lease
    returning m.*
),
effect as (
    insert into notifications (id, workspace_id, user_id, title, run_id)
    select notification_id, workspace_id, user_id, title, id from moved
),
tried as (
    update automation_run_steps s
    set status = 'SUCCEEDED', output = moved.output, ms = 1, finished_at = whenthen_now()
    from moved where s.run_id = moved.id and s.generation = 0 and s.action_id = moved.action_id
        and s.status <> 'SUCCEEDED'
),
line as (
    insert into automation_logs (run_id, level, message, data)
    select moved.id, 'info', l.message, jsonb_build_object('actionId', moved.action_id, 'ms', 1)
    from moved cross join (values ('action 2/2 CREATE_NOTIFICATION done'), ('run completed'))
        l(message)
)
insert into outbox (id, workspace_id, event_id, type, payload)
select event_id, workspace_id, cast(event_id as text), 'automation.executed', event from moved
"""

END_EVENTS = """
delete from outbox where id in (
    select cast(jsonb_array_elements_text(cast($1 as jsonb)) as uuid)
)
"""
