"""What a workspace's runs of some time amount to, counted in one pass over them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from sqlalchemy import RowMapping, text
from sqlalchemy.engine import Connection

from whenthen.domain.kinds import RunStatus, SkipReason

# Automations and failures shown, those with the most runs first.
AUTOMATIONS_MAX = 1_000
FAILURES_MAX = 10
# Types are words of strangers, who may send a new one with every webhook.
TRIGGER_TYPES_MAX = 100

RunCounts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class AutomationCount:
    automation_id: UUID
    name: str
    runs: RunCounts


@dataclass(frozen=True, slots=True)
class FailureCount:
    automation_id: UUID
    name: str
    code: str
    count: int


@dataclass(slots=True)
class RunStats:
    """`runs` have every status as a key; an hour without runs is no key of `per_hour`.

    `p50_ms` and `p95_ms` are None if no run has ended that was not skipped.
    """

    runs: RunCounts
    dead_lettered: int
    p50_ms: int | None
    p95_ms: int | None
    per_hour: dict[datetime, RunCounts] = field(default_factory=dict)
    by_automation: list[AutomationCount] = field(default_factory=list)
    by_trigger_type: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SkipReason, 0))
    top_failures: list[FailureCount] = field(default_factory=list)


def read(connection: Connection, workspace_id: UUID, since: datetime, until: datetime) -> RunStats:
    """Return what the runs created from `since` on and before `until` amount to."""
    values = {"workspace_id": workspace_id, "since": since, "until": until}
    rows = connection.execute(_COUNTS, values | _CAPS).mappings().all()
    total = next(row for row in rows if row["kind"] == "total")
    times = connection.execute(_DURATIONS, values).scalar_one() or (None, None)
    stats = RunStats(_runs(total), total["died"], *times)
    _sort(stats, rows)
    return stats


def _sort(stats: RunStats, rows: Sequence[RowMapping]) -> None:
    for row in rows:
        match row["kind"]:
            case "hour":
                stats.per_hour[row["hour"]] = _runs(row)
            case "automation":
                stats.by_automation.append(
                    AutomationCount(row["automation_id"], row["name"], _runs(row))
                )
            case "trigger_type":
                stats.by_trigger_type[row["trigger_type"]] = row["n"]
            case "skipped":
                stats.skipped[row["skipped"]] = row["n"]
            case "failure":
                failure = FailureCount(row["automation_id"], row["name"], row["code"], row["n"])
                stats.top_failures.append(failure)


def _runs(row: RowMapping) -> RunCounts:
    return {status.value: row[status.lower()] for status in RunStatus}


_CAPS = {
    "automations": AUTOMATIONS_MAX,
    "failures": FAILURES_MAX,
    "trigger_types": TRIGGER_TYPES_MAX,
}
_WANTED = """
    from automation_runs r
    where r.workspace_id = :workspace_id and r.created_at >= :since and r.created_at < :until
"""
# Outputs are up to 128 KB and stored apart; that of a skip is so short that it is in the row, and
# its size tells without fetching any.
_SKIPPED = "case when pg_column_size(r.output) <= 100 then r.output ->> 'skipped' end"
_BY_STATUS = ", ".join(
    f"count(*) filter (where status = '{status}') as {status.lower()}" for status in RunStatus
)
# `grouping` has a bit for each of its arguments, 1 where the row is not grouped by it.
_COUNTS = text(
    f"""
    with run as (
        select r.status, r.automation_id, r.trigger_type, r.deaths > 0 as has_died,
            date_trunc('hour', r.created_at, 'UTC') as hour, {_SKIPPED} as skipped,
            case when r.status in ('FAILED', 'DEAD_LETTER') then r.error ->> 'code' end as code
        {_WANTED}
    ),
    counted as (
        select
            case grouping(hour, automation_id, trigger_type, skipped, code)
                when 15 then 'hour' when 23 then 'automation' when 27 then 'trigger_type'
                when 29 then 'skipped' when 22 then 'failure' else 'total' end as kind,
            hour, automation_id, trigger_type, skipped, code, count(*) as n,
            count(*) filter (where has_died) as died, {_BY_STATUS}
        from run
        group by grouping sets
            ((hour), (automation_id), (trigger_type), (skipped), (automation_id, code), ())
    ),
    ranked as (
        select *, row_number() over (
            partition by kind order by n desc, automation_id, trigger_type, code) as place
        from counted
        where (kind <> 'skipped' or skipped is not null) and (kind <> 'failure' or code is not null)
    )
    select ranked.*, a.name
    from ranked left join automations a on a.id = ranked.automation_id
    where (kind <> 'automation' or place <= cast(:automations as integer))
        and (kind <> 'trigger_type' or place <= cast(:trigger_types as integer))
        and (kind <> 'failure' or place <= cast(:failures as integer))
    order by kind, place
    """  # noqa: S608  # only constants of this module
)
# A skip takes no time, and a run on its way has not shown yet how much it takes.
_DURATIONS = text(
    f"""
    select percentile_disc(array[0.5, 0.95]) within group (
        order by cast(extract(epoch from r.finished_at - r.started_at) * 1000 as bigint))
    {_WANTED} and r.finished_at is not null and r.started_at is not null and {_SKIPPED} is null
    """  # noqa: S608  # only constants of this module
)
