"""Changing what is there: schedules with their preview, versions and the way back, secrets."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import Opener
from tests.browser.world import NOTIFY, World

NINE_DAILY = {
    "type": "SCHEDULE",
    "config": {"cron": "0 9 * * *", "timeZone": "America/New_York"},
}


def test_a_schedule_is_changed_with_its_next_times_in_sight_and_restored(
    open_console: Opener, world: World
) -> None:
    made = world.automation(NOTIFY, name="Report", triggers=[NINE_DAILY])
    screen = open_console(**world.as_owner(), path=f"#/automations/{made['id']}/edit")
    trigger = screen.region("Schedule")
    preview = trigger.get_by_role("status").get_by_role("listitem")
    expect(preview).to_have_count(5)
    # In its own zone, not the reader's.
    expect(preview.first).to_contain_text("09:00:00")

    screen.select("At fixed times", trigger).select_option("Cron expression")
    screen.textbox("Cron expression", trigger).fill("30 6 * * 1")
    expect(preview.first).to_contain_text("Mon")
    expect(preview.first).to_contain_text("06:30:00")
    with screen.refusals(422):
        screen.textbox("Cron expression", trigger).fill("30 25 * * *")
        expect(preview).to_have_count(0)
        expect(trigger.get_by_role("status")).not_to_be_empty()
    screen.textbox("Cron expression", trigger).fill("30 6 * * 1")
    expect(preview).to_have_count(5)
    screen.button("Save").click()
    expect(screen.page.get_by_text("Saved as version 2")).to_be_visible()
    expect(screen.region("Schedule").get_by_text("30 6 * * 1")).to_be_visible()

    screen.link("Versions").click()
    changes = screen.region("Comparison")
    expect(changes.locator("del")).to_have_text('−       "cron": "0 9 * * *",\n')  # noqa: RUF001
    expect(changes.locator("ins")).to_have_text('+       "cron": "30 6 * * 1",\n')
    screen.button("Restore", changes).click()
    screen.button("Restore", screen.dialog()).click()
    expect(screen.page.get_by_text("Version 1 is restored as version 3")).to_be_visible()
    expect(screen.region("Schedule").get_by_text("0 9 * * *")).to_be_visible()
    now = world.api.ok("GET", f"/automations/{made['id']}")
    assert now["version"] == 3
    assert now["triggers"][0]["config"]["cron"] == "0 9 * * *"


def test_what_somebody_else_has_saved_is_not_written_over(
    open_console: Opener, world: World
) -> None:
    made = world.automation(NOTIFY, name="Report", status="DRAFT")
    screen = open_console(**world.as_owner(), path=f"#/automations/{made['id']}/edit")
    screen.textbox("Name").fill("Mine")
    world.api.ok("PATCH", f"/automations/{made['id']}", {"name": "Theirs"})
    with screen.refusals(412):
        screen.button("Save").click()
        expect(screen.heading("Somebody else has changed it")).to_be_visible()
    screen.button("Reload", screen.dialog()).click()
    expect(screen.textbox("Name")).to_have_value("Theirs")


def test_one_is_asked_before_what_is_not_saved_is_lost(open_console: Opener, world: World) -> None:
    made = world.automation(NOTIFY, name="Report", status="DRAFT")
    screen = open_console(**world.as_owner(), path=f"#/automations/{made['id']}/edit")
    screen.textbox("Name").fill("Mine")
    screen.link("Runs", exact=True).click()
    screen.button("Stay", screen.dialog()).click()
    expect(screen.textbox("Name")).to_have_value("Mine")
    screen.link("Runs", exact=True).click()
    screen.button("Leave", screen.dialog()).click()
    expect(screen.heading("Runs")).to_be_visible()


def test_neither_sign_out_nor_another_workspace_takes_unsaved_work_from_who_stays(
    open_console: Opener, world: World
) -> None:
    second = world.api.ok("POST", "/workspaces", {"name": "Second"})
    made = world.automation(NOTIFY, name="Report", status="DRAFT")
    screen = open_console(**world.as_owner(), path=f"#/automations/{made['id']}/edit")
    screen.textbox("Name").fill("Mine")
    screen.button("Sign out").click()
    screen.button("Stay", screen.dialog()).click()
    screen.select("Workspace").select_option(second["id"])
    screen.button("Stay", screen.dialog()).click()
    expect(screen.select("Workspace")).to_have_value(world.workspace_id)
    screen.button("Save").click()
    expect(screen.page.get_by_text("Saved as version 2")).to_be_visible()


def test_a_session_that_ends_meanwhile_leaves_what_is_not_saved(
    open_console: Opener, world: World
) -> None:
    automation = world.automation(NOTIFY, name="Report", status="DRAFT")
    path = f"#/automations/{automation['id']}/edit"
    made = world.api.ok("POST", "/me/tokens", {"name": "short"})
    screen = open_console(made["token"], world.workspace_id, path)
    screen.textbox("Name").fill("Mine")
    world.api.ok("DELETE", f"/me/tokens/{made['id']}")
    with screen.refusals(401):
        screen.button("Save").click()
        expect(screen.page.get_by_text("Your session has ended.")).to_be_visible()
    expect(screen.textbox("Name")).to_have_value("Mine")


def test_what_of_a_definition_is_saved_is_said_and_its_webhook_shown(
    open_console: Opener, world: World
) -> None:
    made = world.automation(NOTIFY, name="Report", status="DRAFT")
    screen = open_console(**world.as_owner(), path=f"#/automations/{made['id']}/edit")
    screen.pick("Add a trigger", "Webhook")
    screen.pick("Add an action", "Send webhook")
    with screen.refusals(422):
        screen.button("Save").click()
        expect(screen.textbox("URL", screen.dialog())).to_have_value(re.compile("/webhooks/"))
        screen.button("I have copied it").click()
        expect(screen.page.get_by_text("Saved: triggers. The rest cannot be saved")).to_be_visible()


def test_a_secret_is_set_and_deleted_and_never_shown(open_console: Opener, world: World) -> None:
    screen = open_console(**world.as_owner(), path="#/secrets")
    screen.textbox("Name").fill("CRM_KEY")
    screen.page.get_by_label("Value").fill("correct horse battery")
    screen.button("Save").click()
    row = screen.page.get_by_role("row").filter(has_text="CRM_KEY")
    expect(row).to_be_visible()
    assert "correct horse" not in screen.page.content()
    row.get_by_role("button", name="Delete").click()
    screen.button("Delete", screen.dialog()).click()
    expect(row).to_have_count(0)
