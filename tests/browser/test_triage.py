"""The main job in the browser: build an automation, switch it on, watch it work."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opener
from tests.browser.screen import Screen
from tests.browser.world import RECORD_CREATED, STATUS_IS_B, World
from tests.e2e.conftest import eventually

NAME = "Triage new tickets"
SIZES = {"wide": (1280, 800), "narrow": (380, 760)}


@pytest.mark.parametrize("size", SIZES)
def test_the_triage_automation_is_built_by_clicking_and_seen_at_work(
    open_console: Opener, world: World, size: str
) -> None:
    width, height = SIZES[size]
    screen = open_console(**world.as_owner(), viewport={"width": width, "height": height})
    screen.link("New automation").first.click()
    build(screen)
    screen.button("Create as draft").click()
    expect(screen.heading(NAME)).to_be_visible()
    (made,) = world.api.ok("GET", f"/workspaces/{world.workspace_id}/automations")["data"]
    check_definition(world, made["id"])

    screen.page.get_by_role("switch", name="Active").click()
    expect(screen.page.get_by_role("switch", name="Active")).to_be_checked()
    screen.page.evaluate("window.sameDocument = true")
    record_id = world.record(Name="Leaking tap", Status="B")
    runs = screen.page.get_by_role("table", name="Runs")
    expect(runs.get_by_role("link", name="Succeeded")).to_be_visible()
    assert screen.page.evaluate("window.sameDocument") is True
    assert screen.fits()

    runs.get_by_role("link", name="Succeeded").click()
    timeline = screen.region("Timeline")
    expect(timeline.get_by_text("Update record")).to_be_visible()
    expect(timeline.get_by_text("Create notification")).to_be_visible()
    expect(timeline.get_by_text("Succeeded", exact=True)).to_have_count(2)
    expect(screen.status_of_run()).to_have_text("Succeeded")
    assert screen.fits()
    record = world.api.ok("GET", f"/records/{record_id}")
    assert record["properties"]["Status"] == "C"
    assert world.titles() == ["Ticket Leaking tap"]


def build(screen: Screen) -> None:
    """Everything of the automation, in its order on the page."""
    screen.textbox("Name").fill(NAME)
    screen.select("Database").select_option("Tickets")
    screen.pick("Add a trigger", "Record created")

    screen.button("+ Add a condition").click()
    screen.select("What to look at").select_option("Status")
    screen.select("How to compare").select_option("is")
    screen.select("Value to compare with").select_option("B")

    screen.pick("Add an action", "Update record")
    update = screen.region("1. Update record")
    screen.select("Record", update).select_option("The record of the event")
    screen.button("+ Add a value", update).click()
    screen.select("Property", update).select_option("Status")
    screen.select("Value of Status", update).select_option("C")

    screen.pick("Add an action", "Create notification")
    notify = screen.region("2. Create notification")
    screen.textbox("Title", notify).fill("Ticket ")
    screen.pick("Insert a value into Title", "record.Name", notify)
    expect(screen.textbox("Title", notify)).to_have_value("Ticket {{record.Name}}")


def check_definition(world: World, automation_id: str) -> None:
    made = world.api.ok("GET", f"/automations/{automation_id}")
    assert made["databaseId"] == world.database_id
    assert [(one["type"], one["config"]) for one in made["triggers"]] == [("RECORD_CREATED", {})]
    assert made["condition"] == {"and": [STATUS_IS_B]} or made["condition"] == STATUS_IS_B
    update, notify = made["actions"]
    assert update["config"] == {"recordId": "from_trigger", "propertyValues": {"Status": "C"}}
    assert notify["config"]["title"] == "Ticket {{record.Name}}"


def test_what_the_server_refuses_is_said_at_its_field(open_console: Opener, world: World) -> None:
    screen = open_console(**world.as_owner(), path="#/automations/new")
    with screen.refusals(422):
        screen.pick("Add an action", "Send webhook")
        screen.button("Create as draft").click()
        name = screen.textbox("Name")
        expect(name).to_have_attribute("aria-invalid", "true")
        expect(name).to_have_accessible_description(re.compile("."))
        url = screen.textbox("URL")
        expect(url).to_have_attribute("aria-invalid", "true")
        expect(name).to_be_focused()
    assert world.api.ok("GET", f"/workspaces/{world.workspace_id}/automations")["data"] == []


def test_actions_can_be_put_into_another_order(open_console: Opener, world: World) -> None:
    made = world.automation(
        {"type": "DELAY", "config": {"seconds": 1}},
        {"type": "CREATE_PAGE", "config": {"title": "x"}},
        status="DRAFT",
    )
    screen = open_console(**world.as_owner(), path=f"#/automations/{made['id']}/edit")
    screen.button("Move Delay down").click()
    expect(screen.region("2. Delay")).to_be_visible()
    screen.button("Save").click()
    expect(screen.heading(NAME)).to_be_visible()

    def order() -> bool:
        found = world.api.ok("GET", f"/automations/{made['id']}")["actions"]
        ids = [one["id"] for one in made["actions"]]
        return [one["id"] for one in found] == ids[::-1]

    assert eventually(order, "the order is the other one")


def test_a_webhook_is_shown_once_to_be_copied(open_console: Opener, world: World) -> None:
    screen = open_console(
        **world.as_owner(), path="#/automations/new", permissions=["clipboard-read"]
    )
    screen.textbox("Name").fill("Hook")
    screen.pick("Add a trigger", "Webhook")
    screen.button("Create as draft").click()
    shown = screen.dialog()
    url = screen.textbox("URL", shown).input_value()
    assert url.startswith(f"{world.stack.ready['url']}/webhooks/incoming/")
    assert screen.violations() == []
    screen.button("Copy URL", shown).click()
    expect(screen.page.get_by_text("Copied")).to_be_visible()
    screen.button("I have copied it", shown).click()
    expect(screen.heading("Hook")).to_be_visible()
    expect(screen.page.get_by_text(url)).to_have_count(0)


def test_a_dry_run_shows_what_would_be_done_and_does_nothing(
    open_console: Opener, world: World
) -> None:
    made = world.automation(
        {"type": "CREATE_PAGE", "config": {"title": "Page of {{record.Name}}"}},
        triggers=[RECORD_CREATED],
        condition=STATUS_IS_B,
        status="DRAFT",
    )
    world.record(Name="Dripping", Status="A")
    screen = open_console(**world.as_owner(), path=f"#/automations/{made['id']}/dry-run")
    screen.button("Dry run").click()
    expect(screen.page.get_by_text("It would not run.")).to_be_visible()
    expect(screen.page.get_by_text("Page of Dripping")).to_be_visible()
    assert world.runs(made) == []
