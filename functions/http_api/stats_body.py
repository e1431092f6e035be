"""The JSON of a workspace's statistics.

Source: docs/api.md, "Exact JSON".
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from whenthen.domain import instants
from whenthen.domain.kinds import RunStatus
from whenthen.engine.read_stats import Window
from whenthen.store.run_stats import RunStats

_HOUR = timedelta(hours=1)
_NO_RUNS = dict.fromkeys([status.value for status in RunStatus], 0)


def stats(window: Window, found: RunStats) -> dict[str, Any]:
    """Return `found` with an entry for each hour of the window, those without runs included."""
    return {
        "from": instants.to_text(window.since),
        "to": instants.to_text(window.until),
        "runs": found.runs,
        "perHour": [
            {"hour": instants.to_text(hour), "runs": found.per_hour.get(hour, _NO_RUNS)}
            for hour in _hours(window)
        ],
        "byAutomation": [
            {"automationId": str(one.automation_id), "name": one.name, "runs": one.runs}
            for one in found.by_automation
        ],
        "byTriggerType": found.by_trigger_type,
        "skipped": found.skipped,
        "durationMs": {"p50": found.p50_ms, "p95": found.p95_ms},
        "deadLettered": found.dead_lettered,
        "topFailures": [
            {
                "automationId": str(one.automation_id),
                "name": one.name,
                "code": one.code,
                "count": one.count,
            }
            for one in found.top_failures
        ],
    }


def _hours(window: Window) -> Iterator[datetime]:
    first = window.since.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    # Counted, since the hour after the last one may be beyond the year 9999.
    for n in range(-((first - window.until) // _HOUR)):
        yield first + n * _HOUR
