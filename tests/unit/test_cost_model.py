"""The cost model beside calculations by hand: each component, the others asked for nothing."""

from dataclasses import replace

import pytest

from bench.cost_model import (
    COMPONENTS,
    GB,
    FunctionWork,
    Invocation,
    Work,
    billed_ms,
    billed_record_bytes,
    costs,
    quantities,
    traces,
)
from bench.cost_prices import PRICES
from bench.cost_step_functions import acting_usd, express_usd, standard_usd

NOTHING = Work(
    functions={},
    runs_per_s=100.0,
    http_requests=0.0,
    answer_bytes=0.0,
    stream_in_bytes=0.0,
    stream_out_bytes=0.0,
    queue_requests=0.0,
    is_traced=False,
)
# Every fifth run is an invocation of 100 ms and half a GB, which writes 162 bytes.
FIFTH = FunctionWork(memory_mb=512, invocations=0.2, billed_ms=100.0, log_bytes=162.0)


def test_nothing_costs_nothing() -> None:
    assert costs(NOTHING) == dict.fromkeys(COMPONENTS, 0.0)


def test_every_price_of_a_run_is_in_exactly_one_component() -> None:
    named = [name for names in COMPONENTS.values() for name in names]
    assert sorted(named) == sorted(quantities(NOTHING))
    assert set(named) <= PRICES.keys()


@pytest.mark.parametrize(
    ("component", "work", "usd"),
    [
        # A million requests at 1.00, and answers of 1,073.741824 bytes: 1 GB at 0.09.
        ("API Gateway", replace(NOTHING, http_requests=1.0, answer_bytes=GB / 1e6), 1.09),
        # 200,000 of them at 0.20 a million.
        ("Lambda requests", replace(NOTHING, functions={"a": FIFTH}), 0.04),
        # 200,000 x 0.1 s x 0.5 GB = 10,000 GB-s at 0.0000133334.
        ("Lambda duration", replace(NOTHING, functions={"a": FIFTH}), 0.133334),
        ("Lambda duration", replace(NOTHING, functions={"a": FIFTH, "b": FIFTH}), 0.266668),
        # 2 GB in at 0.08, and 1 GB out at 0.04.
        (
            "Kinesis",
            replace(NOTHING, stream_in_bytes=2 * GB / 1e6, stream_out_bytes=GB / 1e6),
            0.20,
        ),
        # Three million requests at 0.40, each of a message group: 0.10 more.
        ("SQS", replace(NOTHING, queue_requests=3.0), 1.50),
        # 200,000 x (162 + 338 bytes) = 100 MB, of a GB at 0.50.
        ("CloudWatch logs", replace(NOTHING, functions={"a": FIFTH}), 0.5 * 1e8 / GB),
        # A million lines of 330 + 26 bytes.
        ("CloudWatch logs", replace(NOTHING, http_requests=1.0), 0.5 * 3.56e8 / GB),
        # 20 requests a second: one, and 5 % of 19, is 1.95 of them for 100 runs, 19,500 at 5.00.
        ("X-Ray", replace(NOTHING, functions={"a": FIFTH}, is_traced=True), 0.0975),
        ("X-Ray", replace(NOTHING, functions={"a": FIFTH}), 0.0),
        # One a second at most is traced each time: 200,000 at 5.00.
        ("X-Ray", replace(NOTHING, functions={"a": FIFTH}, is_traced=True, runs_per_s=5.0), 1.0),
    ],
)
def test_a_component_costs_what_a_calculation_by_hand_says(
    component: str, work: Work, usd: float
) -> None:
    assert costs(work)[component] == pytest.approx(usd, rel=1e-9)


@pytest.mark.parametrize(
    ("measured", "memory_mb", "expected"),
    [
        # 10 ms of a processor are 10 ms with a whole one, and 34.55 ms with 512/1769 of one.
        (Invocation(10.0, 10.0, 0, 0, 0), 1_769, 10),
        (Invocation(10.0, 10.0, 0, 0, 0), 3_538, 10),
        (Invocation(10.0, 10.0, 0, 0, 0), 512, 35),
        # What it waits for here, it waits for there.
        (Invocation(15.0, 10.0, 0, 0, 0), 1_769, 15),
        # Two threads may use more CPU than time passes.
        (Invocation(5.0, 10.0, 0, 0, 0), 1_769, 10),
        # 7 round trips of 1 ms, 2 calls of 10 ms.
        (Invocation(10.0, 10.0, 7, 2, 0), 1_769, 37),
        # Whole milliseconds are billed.
        (Invocation(10.1, 10.1, 0, 0, 0), 1_769, 11),
    ],
)
def test_an_invocation_is_billed_for_its_share_of_a_processor_and_its_waits(
    measured: Invocation, memory_mb: int, expected: int
) -> None:
    assert billed_ms(measured, memory_mb) == expected


@pytest.mark.parametrize(
    ("size", "billed"), [(1, 1_024), (1_023, 1_024), (1_024, 1_024), (1_025, 2_048)]
)
def test_a_record_is_written_in_whole_kilobytes(size: int, billed: int) -> None:
    assert billed_record_bytes(size) == billed


@pytest.mark.parametrize(
    ("requests_per_s", "traced"), [(0.5, 0.5), (1.0, 1.0), (2.0, 1.05), (101.0, 6.0)]
)
def test_the_first_request_of_a_second_is_traced_and_a_twentieth_of_the_others(
    requests_per_s: float, traced: float
) -> None:
    assert traces(requests_per_s) == pytest.approx(traced)


def test_step_functions_standard_charges_for_each_state() -> None:
    # Three states a run: 3,000,000 at 0.025 a thousand.
    assert standard_usd() == pytest.approx(75.0)
    assert standard_usd(executions=2) == pytest.approx(0.00015)


@pytest.mark.parametrize(
    ("execution_ms", "usd"),
    [
        # A million requests at 1.00; 0.1 s of 64 MB are 0.00625 GB-s each, at 0.00001667.
        (1, 1.1041875),
        (100, 1.1041875),
        (101, 1.208375),
    ],
)
def test_step_functions_express_charges_for_requests_and_steps_of_100_ms(
    execution_ms: float, usd: float
) -> None:
    assert express_usd(execution_ms) == pytest.approx(usd)


def test_functions_that_act_for_step_functions_charge_for_two_requests_and_their_time() -> None:
    # 2,000,000 at 0.20 a million; 0.1 s x 0.5 GB x 1,000,000 = 50,000 GB-s at 0.0000133334.
    assert acting_usd(100.0, 512) == pytest.approx(0.40 + 0.66667)
