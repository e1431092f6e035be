"""Everything without a pointer."""

from playwright.sync_api import Locator, expect

from tests.browser.conftest import Opener
from tests.browser.screen import Screen
from tests.browser.world import World

STOPS_MAX = 120


def reach(screen: Screen, target: Locator) -> None:
    """Press Tab until `target` has the focus, which must be seen."""
    expect(target.first).to_be_visible()
    for _ in range(STOPS_MAX):
        screen.page.keyboard.press("Tab")
        if screen.is_focused(target):
            outline = target.first.evaluate("node => getComputedStyle(node).outlineStyle")
            assert outline != "none", "the focus is not seen"
            return
    raise AssertionError(f"no Tab leads to {target}")


def press(screen: Screen, target: Locator, key: str = "Enter") -> None:
    reach(screen, target)
    screen.page.keyboard.press(key)


def choose(screen: Screen, target: Locator, option: str) -> None:
    """Choose by typing the beginning of the option, as one does in a list that is closed."""
    reach(screen, target)
    screen.page.keyboard.type(option)
    expect(target.locator("option:checked")).to_have_text(option)


def type_into(screen: Screen, target: Locator, text: str) -> None:
    if not screen.is_focused(target):
        reach(screen, target)
    screen.page.keyboard.type(text)


def test_one_comes_in_looks_around_and_goes_with_the_keyboard_alone(
    open_console: Opener, world: World
) -> None:
    screen = open_console(workspace_id=world.workspace_id)
    # The shortest way in has the focus.
    expect(screen.button("Sign in with your organisation")).to_be_focused()
    reach(screen, screen.textbox("API token"))
    screen.page.keyboard.type(world.owner_token)
    screen.page.keyboard.press("Enter")
    expect(screen.heading("Automations")).to_be_focused()
    press(screen, screen.link("Dead letters"))
    expect(screen.heading("Dead letters")).to_be_focused()
    press(screen, screen.button("Sign out"))
    expect(screen.button("Sign in with your organisation")).to_be_focused()


def test_an_automation_is_built_and_started_with_the_keyboard_alone(
    open_console: Opener, world: World
) -> None:
    screen = open_console(**world.as_owner())
    expect(screen.heading("Automations")).to_be_focused()
    press(screen, screen.link("New automation").first)
    name = screen.textbox("Name")
    expect(name).to_be_focused()
    type_into(screen, name, "By keyboard")
    choose(screen, screen.select("Database"), "Tickets")
    press(screen, screen.button("Add a trigger"))
    press(screen, screen.button("Record created"))
    press(screen, screen.button("+ Add a condition"))
    choose(screen, screen.select("How to compare"), "is empty")
    press(screen, screen.button("Add an action"))
    press(screen, screen.button("Create notification"))
    title = screen.textbox("Title")
    expect(title).to_be_focused()
    type_into(screen, title, "Hello")
    press(screen, screen.button("Add an action"))
    press(screen, screen.button("Delay"))
    reach(screen, screen.textbox("Seconds"))
    screen.page.keyboard.type("1")
    press(screen, screen.button("Move Delay up"))
    expect(screen.region("1. Delay")).to_be_visible()
    press(screen, screen.button("Create as draft"))
    expect(screen.heading("By keyboard")).to_be_focused()

    press(screen, screen.button("Run now"))
    run = screen.page.get_by_role("table", name="Runs").get_by_role("link").first
    press(screen, run)
    expect(screen.heading("By keyboard")).to_be_focused()
    expect(screen.status_of_run()).to_have_text("Succeeded")
    assert world.titles() == ["Hello"]


def test_a_dialog_keeps_the_focus_and_gives_it_back(open_console: Opener, world: World) -> None:
    made = world.automation(name="Old one")
    screen = open_console(**world.as_owner(), path=f"#/automations/{made['id']}")
    archive = screen.button("Archive")
    press(screen, archive)
    asked = screen.dialog()
    expect(asked).to_be_visible()
    for _ in range(6):
        screen.page.keyboard.press("Tab")
        # Or in the browser's own controls, where the page has no focus.
        focus = "document.activeElement"
        assert asked.evaluate(f"node => node.contains({focus}) || {focus} === document.body")
    screen.page.keyboard.press("Escape")
    expect(asked).to_have_count(0)
    expect(archive).to_be_focused()
    assert world.api.ok("GET", f"/automations/{made['id']}")["status"] == "ACTIVE"


def test_one_can_skip_to_the_content(open_console: Opener, world: World) -> None:
    screen = open_console(**world.as_owner(), path="#/stats")
    expect(screen.heading("Stats")).to_be_focused()
    screen.page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    press(screen, screen.button("Skip to the content"))
    expect(screen.heading("Stats")).to_be_focused()
