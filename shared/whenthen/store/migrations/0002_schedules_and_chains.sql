-- What schedules, people, chains and large tables need beyond the first schema: expands only.

-- ---------------------------------------------------------------- schedules

-- A run that ends as `overlap` or `superseded` turns its occurrence; it does not know its instant.
create index schedule_occurrences_run on schedule_occurrences (run_id) where run_id is not null;

-- Every minute the schedules are compared with these, however many other triggers there are.
create index automation_triggers_scheduled on automation_triggers (automation_id)
    where type = 'SCHEDULE';

-- Occurrences go by age, whichever schedule they are of.
create index schedule_occurrences_age on schedule_occurrences (scheduled_for);

-- ---------------------------------------------------------------- people

-- The user behind an event: set by the engine's own routes, and no part of any payload.
alter table outbox add column actor_id uuid;
alter table automation_runs add column actor_id uuid;

-- ---------------------------------------------------------------- chains

-- What signs the context of a chain that goes out over HTTP and back in: the newest signs, all are
-- taken. A new one: insert into loop_keys default values. 244 random bits each.
create table loop_keys (
    id uuid primary key default gen_random_uuid(),
    key bytea not null default decode(
        replace(cast(gen_random_uuid() as text) || cast(gen_random_uuid() as text), '-', ''), 'hex'
    ),
    created_at timestamptz not null default whenthen_now()
);
insert into loop_keys default values;

-- ---------------------------------------------------------------- large tables

-- A page of runs of one status, however rare: else those of all others are read to find it.
create index automation_runs_by_status
    on automation_runs (workspace_id, status, created_at desc, id desc);
create index automation_runs_by_automation_status
    on automation_runs (automation_id, status, created_at desc, id desc);

-- Where most automations of a workspace listen to one database, the planner takes their number for
-- what every event finds, and reads all triggers for each event.
alter table automation_triggers alter column scope_id set (n_distinct = -0.2);
