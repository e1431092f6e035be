-- The whole data model (docs/architecture.md, "Data model"). Later migrations expand, then contract.
-- Hot tables (runs, steps, logs, outbox) carry no foreign keys: a check per inserted row costs more
-- than the insert, and a key-share lock on the automation would cross with definition writes.

-- The one clock of every lease and due decision. The offset is set by tests only, per transaction.
create function whenthen_now() returns timestamptz language sql volatile as $$
    select clock_timestamp() + interval '1 second'
        * coalesce(nullif(current_setting('whenthen.clock_offset_s', true), ''), '0')::float8
$$;

-- ---------------------------------------------------------------- tenants, people, credentials

create table workspaces (
    id uuid primary key,
    name text not null,
    created_at timestamptz not null default whenthen_now()
);

-- `email` is null for a person whose identity provider vouches for no address.
create table users (
    id uuid primary key,
    email text,
    name text,
    oidc_issuer text,
    oidc_subject text,
    created_at timestamptz not null default whenthen_now(),
    unique (oidc_issuer, oidc_subject)
);
create unique index users_email on users (lower(email));

create table members (
    workspace_id uuid not null references workspaces,
    user_id uuid not null references users,
    role text not null check (role in ('OWNER', 'ADMIN', 'EDITOR', 'VIEWER')),
    created_at timestamptz not null default whenthen_now(),
    primary key (workspace_id, user_id)
);
create index members_user on members (user_id);
create index members_list on members (workspace_id, created_at desc, user_id desc);

create table api_tokens (
    id uuid primary key,
    user_id uuid not null references users,
    name text not null,
    token_hash bytea not null unique,
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz,
    created_at timestamptz not null default whenthen_now()
);
create index api_tokens_user on api_tokens (user_id);

-- ---------------------------------------------------------------- the host's data

create table databases (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    name text not null,
    properties jsonb not null,
    archived_at timestamptz,
    created_at timestamptz not null default whenthen_now(),
    updated_at timestamptz not null default whenthen_now()
);
create index databases_list on databases (workspace_id, created_at desc, id desc);

create table database_grants (
    database_id uuid not null references databases,
    user_id uuid not null references users,
    level text not null check (level in ('VIEW', 'EDIT')),
    created_at timestamptz not null default whenthen_now(),
    primary key (database_id, user_id)
);
create index database_grants_user on database_grants (user_id);
create index database_grants_list on database_grants (database_id, created_at desc, user_id desc);

create table records (
    id uuid primary key,
    workspace_id uuid not null,
    database_id uuid not null references databases,
    properties jsonb not null,
    version integer not null default 1,
    created_at timestamptz not null default whenthen_now(),
    updated_at timestamptz not null default whenthen_now()
);
create index records_list on records (database_id, created_at desc, id desc);

create table pages (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    title text not null,
    parent_id uuid,
    content text,
    created_at timestamptz not null default whenthen_now()
);
create index pages_list on pages (workspace_id, created_at desc, id desc);

-- One ciphertext for each 4,096 bytes of the value, which is as much as KMS encrypts in one call.
create table secrets (
    id uuid not null,
    workspace_id uuid not null references workspaces,
    name text not null,
    ciphertexts bytea[] not null,
    created_at timestamptz not null default whenthen_now(),
    updated_at timestamptz not null default whenthen_now(),
    primary key (workspace_id, name)
);
create index secrets_list on secrets (workspace_id, created_at desc, id desc);

-- ---------------------------------------------------------------- definitions

create table automations (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    name text not null,
    description text,
    database_id uuid references databases,
    status text not null default 'DRAFT' check (status in ('DRAFT', 'ACTIVE', 'PAUSED', 'ARCHIVED')),
    version integer not null default 1,
    active_since timestamptz,
    created_by uuid references users,
    created_at timestamptz not null default whenthen_now(),
    updated_at timestamptz not null default whenthen_now()
);
create index automations_list on automations (workspace_id, created_at desc, id desc);

-- An immutable snapshot. `schema` is the version of the shapes inside; condition is SQL NULL when
-- there is none, never a JSON null.
create table automation_versions (
    automation_id uuid not null references automations,
    version integer not null,
    schema integer not null,
    name text not null,
    database_id uuid,
    triggers jsonb not null,
    condition jsonb,
    actions jsonb not null,
    created_by uuid,
    created_at timestamptz not null default whenthen_now(),
    primary key (automation_id, version)
);

-- The current version's triggers, opened up for matching. `scope_id` is what an event must name to
-- become a candidate: the effective database (record and form triggers), the automation itself
-- (WEBHOOK, SCHEDULE), the workspace (PAGE_CREATED); null matches nothing.
create table automation_triggers (
    id uuid primary key,
    automation_id uuid not null references automations,
    position integer not null,
    type text not null,
    workspace_id uuid not null,
    scope_id uuid,
    config jsonb not null,
    secret_hash bytea unique,
    require_signature boolean not null default false
);
create index automation_triggers_automation on automation_triggers (automation_id, position);
create index automation_triggers_match on automation_triggers (workspace_id, type, scope_id);

-- ---------------------------------------------------------------- runs

-- The row is the state machine. `enqueue_after` is the row's own next wake-up (null: none).
-- `input` is {type, payload, automationContext, truncated?}; the flattened event is built on read.
create table automation_runs (
    id uuid primary key,
    automation_id uuid not null,
    version integer not null,
    workspace_id uuid not null,
    event_id text not null,
    trigger_type text not null,
    record_id text,
    status text not null check (status in ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'DEAD_LETTER')),
    input jsonb not null,
    depth integer not null default 0,
    root_run_id uuid not null,
    parent_run_id uuid,
    chain jsonb not null default '[]',
    retry_count integer not null default 0,
    crash_count integer not null default 0,
    generation integer not null default 0,
    next_action integer not null default 0,
    forced boolean not null default false,
    cancelled_by uuid,
    schedule_id uuid,
    deaths integer not null default 0,
    notified_death integer not null default 0,
    due_at timestamptz not null default whenthen_now(),
    enqueue_after timestamptz,
    lease_token uuid,
    lease_expires_at timestamptz,
    created_at timestamptz not null default whenthen_now(),
    started_at timestamptz,
    finished_at timestamptz,
    output jsonb,
    error jsonb,
    unique (automation_id, event_id)
);
create index automation_runs_by_automation on automation_runs (automation_id, created_at desc, id desc);
create index automation_runs_by_workspace on automation_runs (workspace_id, created_at desc, id desc);
create index automation_runs_wake on automation_runs (enqueue_after) where enqueue_after is not null;
-- The searches of a workspace's runs: what did not succeed (few rows stay in it), one record's runs
-- (a host's record id may be of any length, which a key may not), and the rest of a chain.
create index automation_runs_unsucceeded on automation_runs (workspace_id, created_at desc, id desc)
    where status <> 'SUCCEEDED';
create index automation_runs_by_record
    on automation_runs (workspace_id, left(record_id, 100), created_at desc, id desc)
    where record_id is not null;
create index automation_runs_chained on automation_runs (root_run_id) where parent_run_id is not null;

-- The checkpoint of one action inside one run. `ms` is the successful attempt's duration.
create table automation_run_steps (
    run_id uuid not null,
    generation integer not null,
    action_id uuid not null,
    index integer not null,
    type text not null,
    status text not null check (status in ('STARTED', 'WAITING', 'SUCCEEDED', 'FAILED')),
    attempts integer not null default 0,
    output jsonb,
    error jsonb,
    ms integer,
    resume_at timestamptz,
    started_at timestamptz not null default whenthen_now(),
    finished_at timestamptz,
    primary key (run_id, generation, action_id)
);

create table automation_logs (
    run_id uuid not null,
    seq bigint generated always as identity,
    level text not null,
    message text not null,
    data jsonb not null default '{}',
    created_at timestamptz not null default whenthen_now(),
    primary key (run_id, seq)
);

-- ---------------------------------------------------------------- schedules

create table schedules (
    id uuid primary key,
    automation_id uuid not null,
    trigger_id uuid not null unique,
    version integer not null,
    cron text,
    run_every_s integer,
    time_zone text not null,
    anchor_at timestamptz not null,
    next_at timestamptz,
    catch_up text not null default 'none',
    catch_up_window_s integer not null default 3600,
    overlap text not null default 'allow',
    active_run_id uuid
);
create index schedules_due on schedules (next_at) where next_at is not null;
create index schedules_automation on schedules (automation_id);

create table schedule_occurrences (
    schedule_id uuid not null,
    version integer not null,
    scheduled_for timestamptz not null,
    outcome text not null check (outcome in ('fired', 'missed', 'deduped', 'skipped')),
    reason text,
    run_id uuid,
    primary key (schedule_id, version, scheduled_for)
);

create table ticks (
    name text not null,
    started_at timestamptz not null,
    primary key (name, started_at)
);

-- ---------------------------------------------------------------- events, limits, people's side

-- An event that is true but not yet matched. `relay_at`: when the sweep puts it on the stream again.
create table outbox (
    id uuid primary key,
    workspace_id uuid not null,
    event_id text not null,
    type text not null,
    payload jsonb not null,
    automation_context jsonb,
    occurred_at timestamptz not null default whenthen_now(),
    attempts integer not null default 0,
    relay_at timestamptz not null default whenthen_now() + interval '60 seconds'
);
create index outbox_relay on outbox (relay_at);

create table dead_events (
    id uuid primary key,
    source text not null,
    reason text not null,
    data bytea not null,
    created_at timestamptz not null default whenthen_now()
);

-- Runs that automations start in each other, counted by minute and by day.
create table automation_rate (
    automation_id uuid not null,
    span text not null check (span in ('minute', 'day')),
    bucket timestamptz not null,
    n integer not null default 0,
    primary key (automation_id, span, bucket)
);

create table notifications (
    id uuid primary key,
    workspace_id uuid not null,
    user_id uuid not null,
    title text not null,
    body text,
    run_id uuid,
    read_at timestamptz,
    created_at timestamptz not null default whenthen_now()
);
create index notifications_list on notifications (user_id, created_at desc, id desc);

create table audit_log (
    id uuid primary key,
    workspace_id uuid not null,
    action text not null,
    actor_type text not null,
    actor_id text not null,
    resource_type text not null,
    resource_id text not null,
    data jsonb not null default '{}',
    created_at timestamptz not null default whenthen_now()
);
create index audit_log_list on audit_log (workspace_id, created_at desc, id desc);

-- `digest` is SHA-256 of method, path and key, which may be longer than an index entry. Status and
-- response are null only inside the transaction that writes the answer.
create table idempotency_keys (
    user_id uuid not null,
    digest bytea not null,
    body_hash bytea not null,
    status integer,
    response text,
    created_at timestamptz not null default whenthen_now(),
    primary key (user_id, digest)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- Requests of one credential in the present minute. Unlogged: a count lost in a crash costs nothing.
create unlogged table api_request_counts (
    credential bytea primary key,
    minute timestamptz not null,
    n integer not null
);
