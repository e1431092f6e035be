"""What goes wrong, as somebody sees it, and what they do about it."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opener
from tests.browser.world import NOTIFY, World
from tests.e2e.conftest import eventually
from tests.e2e.stories import target_of_its_own, webhook
from tests.integration.webhook_target import Target, respond

BROKEN = respond(503, "down for now")
WORKS = respond(200, "{}")


@pytest.fixture
def target() -> Iterator[Target]:
    with target_of_its_own() as target:
        yield target


def test_a_broken_webhook_shows_its_waits_and_what_becomes_of_them(
    open_console: Opener, world: World, target: Target
) -> None:
    url = target.on("/crm", BROKEN)
    automation = world.automation(webhook(url), name="Tell the CRM")
    screen = open_console(**world.as_owner(), path="#/runs")
    screen.page.evaluate("window.sameDocument = true")
    world.record(Name="Leaking tap")
    row = screen.page.get_by_role("row").filter(has_text="Tell the CRM")
    expect(row).to_contain_text(re.compile("waits.*retr"))
    assert screen.page.evaluate("window.sameDocument") is True

    screen.link("Tell the CRM", row).click()
    step = screen.region("Timeline").get_by_role("listitem").filter(has_text="Send webhook")
    expect(step).to_contain_text("Retrying")
    expect(screen.page.get_by_text("Goes on")).to_be_visible()
    step.locator("summary").click()
    tries = screen.page.get_by_role("table", name="Attempts and waits")
    expect(tries.get_by_role("row").filter(has_text="WEBHOOK_HTTP_RETRIABLE").first).to_be_visible()
    expect(tries.get_by_role("row").filter(has_text="Wait").nth(1)).to_be_visible()
    assert screen.violations() == []

    target.on("/crm", WORKS)
    expect(screen.status_of_run()).to_have_text("Succeeded")
    assert world.detail(world.runs(automation)[0])["retryCount"] >= 2


def test_a_dead_run_goes_on_from_its_failed_step(
    open_console: Opener, world: World, target: Target
) -> None:
    url = target.on("/crm", BROKEN)
    automation = world.automation(NOTIFY, webhook(url, retries=0), name="Tell the CRM")
    world.record(Name="Leaking tap")
    run = world.run_with(automation, "DEAD_LETTER")
    screen = open_console(**world.as_owner(), path=f"#/runs/{run['id']}")
    expect(screen.status_of_run()).to_have_text("Dead letter")
    expect(screen.page.get_by_text("WEBHOOK_HTTP_RETRIABLE").first).to_be_visible()

    target.on("/crm", WORKS)
    screen.button("Retry…").click()
    chosen = screen.select("Begin", screen.dialog()).locator("option:checked")
    expect(chosen).to_have_text("From the failed step 2, Send webhook")
    assert screen.violations() == []
    screen.button("Retry", screen.dialog()).click()
    expect(screen.status_of_run()).to_have_text("Succeeded")
    assert len(target.hits) == 2
    # The step before it did not run again.
    assert world.titles().count("Ticket Leaking tap") == 1


def test_three_dead_letters_are_brought_back_at_once(
    open_console: Opener, world: World, target: Target
) -> None:
    url = target.on("/crm", BROKEN)
    automation = world.automation(webhook(url, retries=0), name="Tell the CRM")
    for number in range(3):
        world.record(Name=f"Tap {number}")
    world.run_with(automation, "DEAD_LETTER", count=3)
    screen = open_console(**world.as_owner(), path="#/dead-letters")
    group = screen.region("Tell the CRM")
    expect(group.get_by_text("3 runs").first).to_be_visible()
    expect(group.get_by_text("WEBHOOK_HTTP_RETRIABLE")).to_be_visible()

    target.on("/crm", WORKS)
    screen.button("Redrive all of Tell the CRM", group).click()
    expect(screen.heading("Retry 3 runs?")).to_be_visible()
    assert screen.violations() == []
    screen.button("Retry 3 runs", screen.dialog()).click()
    expect(screen.page.get_by_text("0 of 3 have ended")).to_be_visible()
    # Their turn is within a minute: this is the tick that sends them.
    world.stack.invoke("RunWatchdogFunction", {})
    expect(screen.page.get_by_text("3 runs retried, 0 of them failed again.")).to_be_visible()
    expect(screen.heading("No dead letters")).to_be_visible()
    world.run_with(automation, "SUCCEEDED", count=3)
    assert len(target.hits) == 6


def test_a_waiting_run_can_be_cancelled(open_console: Opener, world: World) -> None:
    automation = world.automation({"type": "DELAY", "config": {"seconds": 86_400}})
    world.record(Name="Leaking tap")
    run = eventually(lambda: next(iter(world.runs(automation)), None), "there is a run")
    screen = open_console(**world.as_owner(), path=f"#/runs/{run['id']}")
    screen.button("Cancel…").click()
    screen.button("Cancel the run", screen.dialog()).click()
    expect(screen.status_of_run()).to_have_text("Failed")
    expect(screen.page.get_by_text("CANCELLED").first).to_be_visible()
