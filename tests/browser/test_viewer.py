"""Somebody who may only look sees nothing that they may not use."""

from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opener
from tests.browser.screen import Screen
from tests.browser.world import NOTIFY, World
from tests.e2e.stories import webhook

Views = dict[str, str]
# In each view the controls that an OWNER has and a VIEWER has not, by role and name.
FOR_EDITORS: dict[str, list[tuple[str, str]]] = {
    "automations": [("link", "New automation"), ("link", "Secrets"), ("link", "Activity")],
    "overview": [
        ("switch", "Active"),
        ("button", "Run now"),
        ("button", "Make a new URL"),
        ("button", "Archive"),
        ("link", "Edit"),
        ("link", "Dry run"),
    ],
    "versions": [("button", "Restore")],
    "runs": [("button", "Redrive…")],
    "run": [("button", "Retry…")],
    "dead letters": [("button", "Redrive all of Tell the CRM")],
    "stats": [],
}


@pytest.fixture
def views(world: World) -> Views:
    """A dead run and all that leads to it, by the addresses of its views."""
    made = world.automation(
        NOTIFY,
        webhook("http://127.0.0.1:9/", retries=0),
        name="Tell the CRM",
        triggers=[{"type": "RECORD_CREATED", "config": {}}, {"type": "WEBHOOK", "config": {}}],
    )
    world.api.ok("PATCH", f"/automations/{made['id']}", {"description": "For the sales people"})
    world.api.ok(
        "PUT",
        f"/automations/{made['id']}/conditions",
        {
            "condition": {
                "not": {
                    "field": {"ref": "property", "name": "Status"},
                    "operator": "eq",
                    "value": "A",
                }
            }
        },
    )
    world.record(Name="Leaking tap")
    run = world.run_with(made, "DEAD_LETTER")
    home = f"#/automations/{made['id']}"
    return {
        "automations": "#/automations",
        "overview": home,
        "versions": f"{home}/versions?version=1",
        "runs": "#/runs",
        "run": f"#/runs/{run['id']}",
        "dead letters": "#/dead-letters",
        "stats": "#/stats",
    }


ROLES: Final[tuple[Any, ...]] = ("button", "link", "switch", "combobox", "textbox", "checkbox")


def controls(screen: Screen) -> set[tuple[str, str]]:
    """Every control on the page, by role and name; a row's own values are left out."""
    found = set()
    for role in ROLES:
        for one in screen.page.get_by_role(role).all():
            name = one.get_attribute("aria-label") or one.inner_text()
            found.add((role, name.strip()))
    return found


def test_a_viewer_sees_no_control_that_is_not_for_them(
    open_console: Opener, world: World, views: Views
) -> None:
    owner = open_console(**world.as_owner())
    viewer = open_console(**world.as_viewer())
    for name, path in views.items():
        for screen in (owner, viewer):
            screen.go(path)
            expect(screen.page.locator("main h1")).to_be_visible()
        kept = {(role, label) for role, label in controls(viewer)}
        for control in FOR_EDITORS[name]:
            assert control in controls(owner), f"{name}: an owner lacks {control}"
            assert control not in kept, f"{name}: a viewer has {control}"


WRITING = (
    "new",
    "edit",
    "create",
    "save",
    "restore",
    "retry",
    "redrive",
    "cancel",
    "archive",
    "delete",
    "run now",
    "add",
    "remove",
    "make",
)


def test_nothing_that_a_viewer_sees_sounds_like_writing(
    open_console: Opener, world: World, views: Views
) -> None:
    screen = open_console(**world.as_viewer())
    for name, path in views.items():
        screen.go(path)
        expect(screen.page.locator("main h1")).to_be_visible()
        words = {label.lower() for _, label in controls(screen)}
        writing = {word for word in words if word.startswith(WRITING)}
        assert writing <= {"newer runs"}, name


@pytest.mark.parametrize("path", ["#/secrets", "#/activity"])
def test_a_view_that_is_for_others_says_so(open_console: Opener, world: World, path: str) -> None:
    screen = open_console(**world.as_viewer())
    expect(screen.heading("Automations")).to_be_visible()
    with screen.refusals(403):
        screen.go(path)
        expect(screen.page.locator("main h1")).not_to_have_text("Automations")
        expect(screen.button("Save")).to_have_count(0)
