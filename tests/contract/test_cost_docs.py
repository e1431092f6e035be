"""docs/cost.md and docs/deploy.md hold the prices of the cost model, and their sums add up."""

from decimal import Decimal
from typing import Final

import pytest

from bench.cost import deployed
from bench.cost_model import COMPONENTS
from bench.cost_prices import PRICES, READ_IN
from tests.contract.template_forms import ROOT

COST = (ROOT / "docs" / "cost.md").read_text("utf-8")
DEPLOY = (ROOT / "docs" / "deploy.md").read_text("utf-8")
TARGET_USD: Final = 4
CENT: Final = Decimal("0.01")
# Rows of docs/deploy.md, by how they begin, and the prices in them.
IDLE = {
    "Kinesis stream": "stream_h",
    "CloudWatch metrics": "alarm_metric",
    "CloudWatch dashboard": "dashboard",
    "KMS key": "key",
    "SQS,": "queue_request",
}


def table(page: str, section: str) -> list[list[str]]:
    """The cells of a section's first table, without its head."""
    lines = page.partition(f"## {section}\n")[2].partition("\n## ")[0].splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip(" *`") for cell in line.strip("|").split("|")])
    return rows


def test_the_prices_are_those_of_the_model() -> None:
    written = {row[0]: (Decimal(row[1]), row[2]) for row in table(COST, "Prices")}
    coded = {
        name: (
            Decimal(str(price.usd)),
            price.unit if price.per == 1 else f"{price.per:,} {price.unit}",
        )
        for name, price in PRICES.items()
    }
    assert written == coded
    assert READ_IN in COST
    assert READ_IN in DEPLOY


@pytest.mark.parametrize("row", IDLE)
def test_what_idling_costs_is_by_the_same_prices(row: str) -> None:
    (price,) = [
        cells[2] for cells in table(DEPLOY, "What idling costs") if cells[0].startswith(row)
    ]
    assert Decimal(price) == Decimal(str(PRICES[IDLE[row]].usd))


@pytest.mark.parametrize("column", [1, 2])
def test_the_components_are_those_of_the_model_and_add_up(column: int) -> None:
    *rows, total = table(COST, "A million runs")
    assert [row[0] for row in rows] == list(COMPONENTS)
    added = sum((Decimal(row[column]) for row in rows), Decimal(0))
    assert added.quantize(CENT) == Decimal(total[column])


def test_a_million_runs_cost_what_was_aimed_at_and_the_comparison_says_the_same() -> None:
    _, busy, lone = table(COST, "A million runs")[-1]
    beside = {row[0]: row[1] for row in table(COST, "Beside AWS Step Functions")}
    assert Decimal(busy) <= TARGET_USD
    assert (beside["whenthen, busy"], beside["whenthen, lone"]) == (busy, lone)


def test_the_page_says_what_the_template_deploys() -> None:
    memory_mb, is_traced = deployed()
    assert set(memory_mb.values()) == {512}
    assert "(512 of 1,769 MB)" in COST
    assert not is_traced
