"""What CloudWatch reads of the counts of an invocation."""

import io
import json
from contextlib import redirect_stdout
from typing import Any

import pytest

from whenthen.aws.metrics import Metrics


def flushed(metrics: Metrics, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    metrics.flush()
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_metric_is_a_line_in_embedded_metric_format(capsys: pytest.CaptureFixture[str]) -> None:
    metrics = Metrics("whenthen", "run-executor")
    metrics.count("automations.actions", type="UPDATE_RECORD", outcome="succeeded")
    metrics.count("automations.actions", 2, outcome="succeeded", type="UPDATE_RECORD")
    (line,) = flushed(metrics, capsys)
    assert line.pop("_aws").pop("Timestamp") > 1_500_000_000_000
    assert line == {
        "type": "UPDATE_RECORD",
        "outcome": "succeeded",
        "service": "run-executor",
        "automations.actions": [3.0],
    }


def test_the_line_tells_cloudwatch_its_namespace_dimensions_and_unit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    metrics = Metrics("whenthen", "stream-matcher")
    metrics.count("automations.matched", 4, trigger_type="RECORD_CREATED")
    (line,) = flushed(metrics, capsys)
    assert line["_aws"]["CloudWatchMetrics"] == [
        {
            "Namespace": "whenthen",
            "Dimensions": [["trigger_type", "service"]],
            "Metrics": [{"Name": "automations.matched", "Unit": "Count"}],
        }
    ]


def test_metrics_of_one_set_of_dimensions_share_a_line_and_others_get_their_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    metrics = Metrics("whenthen", "run-executor")
    metrics.count("automations.skipped", reason="deduped")
    metrics.count("automations.skipped", 5, reason="filter_mismatch")
    metrics.count("automations.dead_letter")
    metrics.count("automations.dead_events", 3)
    lines = flushed(metrics, capsys)
    dimensions = [line["_aws"]["CloudWatchMetrics"][0]["Dimensions"] for line in lines]
    for line in lines:
        del line["_aws"]
    assert dimensions == [[["reason", "service"]], [["reason", "service"]], [["service"]]]
    assert lines == [
        {"reason": "deduped", "service": "run-executor", "automations.skipped": [1.0]},
        {"reason": "filter_mismatch", "service": "run-executor", "automations.skipped": [5.0]},
        {
            "service": "run-executor",
            "automations.dead_letter": [1.0],
            "automations.dead_events": [3.0],
        },
    ]


def test_what_could_not_be_written_is_no_part_of_the_next_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Broken(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    metrics = Metrics("whenthen", "service")
    metrics.count("automations.matched", trigger_type="WEBHOOK")
    with redirect_stdout(Broken()), pytest.raises(BrokenPipeError):
        metrics.flush()
    metrics.count("automations.actions", type="DELAY")
    metrics.flush()
    (line,) = map(json.loads, capsys.readouterr().out.splitlines())
    ((directive),) = line["_aws"]["CloudWatchMetrics"]
    assert [metric["Name"] for metric in directive["Metrics"]] == ["automations.actions"]
    assert {name for names in directive["Dimensions"] for name in names} == {"service", "type"}


def test_nothing_counted_writes_nothing_and_no_count_is_written_twice(
    capsys: pytest.CaptureFixture[str],
) -> None:
    metrics = Metrics("whenthen", "run-executor")
    metrics.count("automations.skipped", 0, reason="deduped")
    assert flushed(metrics, capsys) == []
    metrics.count("automations.skipped", reason="deduped")
    assert len(flushed(metrics, capsys)) == 1
    assert flushed(metrics, capsys) == []
