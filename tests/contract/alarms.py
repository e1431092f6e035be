"""CloudWatch's judgement of the template's alarms, on series of one value a minute."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]
# (service or resource, metric) → a value each minute; None where nothing was published.
Series = Mapping[tuple[str, str], Sequence[float | None]]
_TERM = re.compile(r"FILL\((\w+), 0\)")


def rings(alarm: Json, series: Series) -> bool:
    """Return whether the last periods of `series` put the alarm into the state ALARM.

    Source: CloudWatch, "Evaluating an alarm" and "FILL" of the metric math.
    """
    assert alarm["ComparisonOperator"] == "GreaterThanThreshold"
    assert alarm["TreatMissingData"] == "notBreaching"
    values = _watched(alarm, series)[-alarm["EvaluationPeriods"] :]
    breaching = [value for value in values if value is not None and value > alarm["Threshold"]]
    periods: int = alarm["EvaluationPeriods"]
    return bool(len(breaching) >= alarm.get("DatapointsToAlarm", periods))


def metric_of(metric: Json) -> tuple[str, str]:
    """Return (service or resource, metric), as an alarm names its one dimension."""
    (dimension,) = metric["Dimensions"]
    value = dimension["Value"]
    if not isinstance(value, str):
        value = value["Ref"] if "Ref" in value else value["Fn::GetAtt"][0]
    return str(value), metric["MetricName"]


def _watched(alarm: Json, series: Series) -> Sequence[float | None]:
    if "Metrics" not in alarm:
        assert alarm["Period"] == 60
        return series.get(metric_of(alarm), [])
    (sum_of,) = [part["Expression"] for part in alarm["Metrics"] if "Expression" in part]
    terms = _TERM.findall(sum_of)
    assert sum_of == " + ".join(f"FILL({term}, 0)" for term in terms)
    parts = {part["Id"]: part["MetricStat"] for part in alarm["Metrics"] if "MetricStat" in part}
    assert {part["Period"] for part in parts.values()} == {60}
    added = [series.get(metric_of(parts[term]["Metric"]), []) for term in terms]
    minutes = max(map(len, added), default=0)
    # FILL makes zeros of what is missing, of a whole series too.
    return [sum(one[n] or 0 for one in added if n < len(one)) for n in range(minutes)]
