"""What docs/deploy.md says that idling costs: added up, and counted in the template."""

import re
from decimal import Decimal

import pytest

from tests.contract.template_forms import ROOT, Json, form_of, transformed

CENT = Decimal("0.01")
CREATED = {"CreateDatabase": "true", "CreateInterfaceEndpoints": "true"}
MONTH_H = 730

# What, how many and their unit, the price of one, the price of all.
Row = tuple[str, Decimal, Decimal, Decimal]


@pytest.fixture(scope="module")
def template() -> Json:
    return form_of(transformed(), CREATED)


def table() -> list[list[str]]:
    page = (ROOT / "docs" / "deploy.md").read_text("utf-8")
    section = page.split("## What idling costs")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def number(text: str) -> Decimal:
    found = re.search(r"[\d.]+", text)
    assert found, text
    return Decimal(found[0])


def rows() -> dict[str, Row]:
    found = {}
    for what, quantity, price, total in table():
        if not what.startswith("**"):
            found[what] = (quantity, number(quantity), number(price), number(total))
    return found


def quantity(what: str) -> Decimal:
    return next(row[1] for name, row in rows().items() if name.startswith(what))


def count(template: Json, kind: str) -> int:
    return sum(resource["Type"] == kind for resource in template["Resources"].values())


def test_each_row_is_its_quantity_times_its_price() -> None:
    for what, (_, quantity_, price, total) in rows().items():
        assert (what, total) == (what, (quantity_ * price).quantize(CENT))


def test_each_sum_is_that_of_all_the_rows_above_it() -> None:
    running, sums = Decimal(0), 0
    for what, _, _, total in table():
        if what.startswith("**"):
            assert (what, number(total)) == (what, running)
            sums += 1
        else:
            running += number(total)
    assert sums == 3


def test_the_readme_says_the_same() -> None:
    sums = [round(number(cells[3])) for cells in table() if cells[0].startswith("**")]
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"about {sums[1]} US dollars a month" in readme
    assert f"it is {sums[0]}" in readme


def test_alarms_are_billed_by_the_metrics_that_they_watch(template: Json) -> None:
    alarms = [
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::CloudWatch::Alarm"
    ]
    assert quantity("CloudWatch metrics") == sum(
        max(1, len(alarm.get("Metrics", [])) - 1) for alarm in alarms
    )


def test_what_is_billed_by_the_hour_is_there_that_often(template: Json) -> None:
    hours = MONTH_H
    endpoints = sum(
        resource["Properties"]["VpcEndpointType"] == "Interface"
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::EC2::VPCEndpoint"
    )
    assert quantity("Kinesis") == hours * count(template, "AWS::Kinesis::Stream")
    assert quantity("NAT gateway") == hours * count(template, "AWS::EC2::NatGateway")
    assert quantity("its public") == hours * count(template, "AWS::EC2::EIP")
    assert quantity("four interface") == hours * 2 * endpoints
    assert quantity("KMS key") == count(template, "AWS::KMS::Key")
    low = template["Parameters"]["DatabaseMinCapacity"]["Default"]
    assert quantity("Aurora") == hours * Decimal(str(low)) * count(template, "AWS::RDS::DBInstance")


def test_the_pollers_of_a_mapping_ask_its_queue_three_times_a_minute_each(template: Json) -> None:
    queues = [
        resource
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Lambda::EventSourceMapping"
        and "Queue" in str(resource["Properties"]["EventSourceArn"])
    ]
    # Five pollers, long polls of 20 s (AWS, "Using Lambda with Amazon SQS").
    asked = len(queues) * 5 * 3 * 60 * MONTH_H
    assert quantity("SQS") == (Decimal(asked) / 1_000_000).quantize(CENT)
