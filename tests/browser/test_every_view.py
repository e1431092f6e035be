"""Each view, in both colour schemes and at both widths: nobody is kept out, nothing runs over."""

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.conftest import Opener
from tests.browser.full_world import fill
from tests.browser.screen import Screen
from tests.browser.world import World, make_world
from tests.e2e.conftest import REPOSITORY, Stack
from tests.e2e.stories import target_of_its_own
from tests.integration.webhook_target import respond

SCHEMES = ("light", "dark")
IMAGES = Path(REPOSITORY, "docs", "images")
PICTURES = {
    "automations": "automations",
    "edit": "automation-edit",
    "dry run": "dry-run",
    "runs": "runs",
    "waiting run": "run",
    "dead letters": "dead-letters",
    "stats": "stats",
}
IMAGE_MAX_BYTES = 150_000


@pytest.fixture(scope="module")
def everything(stack: Stack) -> Iterator[tuple[World, dict[str, str]]]:
    world = make_world(stack, "Support")
    with target_of_its_own() as target:
        target.on("/crm", respond(200, "{}"))
        target.on("/down", respond(503, "down for now"))
        yield world, fill(world, target.url)


def show(screen: Screen, path: str) -> None:
    """Go to a view and wait until its lists are there."""
    screen.go(path)
    expect(screen.page.locator("main h1")).to_be_visible()
    expect(screen.page.get_by_text("Loading …")).to_have_count(0)
    expect(screen.page.locator("main [aria-busy]")).to_have_count(0)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_view_keeps_anybody_out(
    open_console: Opener, everything: tuple[World, dict[str, str]], scheme: str
) -> None:
    world, views = everything
    screen = open_console(**world.as_owner(), color_scheme=scheme)
    found: dict[str, list[str]] = {}
    for name, path in views.items():
        show(screen, path)
        if name == "dry run":
            screen.button("Dry run").click()
            expect(screen.page.get_by_text("It would")).to_be_visible()
        screen.open_all(most=4)
        found[name] = screen.violations()
        headings = screen.page.locator("h1")
        expect(headings).to_have_count(1)
        assert screen.page.title() == f"{headings.inner_text()} · whenthen"
    assert {name: problems for name, problems in found.items() if problems} == {}


def test_signing_in_keeps_nobody_out(open_console: Opener) -> None:
    for scheme in SCHEMES:
        screen = open_console(color_scheme=scheme)
        expect(screen.heading("Sign in to whenthen")).to_be_visible()
        assert screen.violations() == []


def test_no_view_is_wider_than_a_phone(
    open_console: Opener, everything: tuple[World, dict[str, str]]
) -> None:
    world, views = everything
    # Somebody who is in a workspace with as long a name as there can be.
    world.api.ok("POST", "/workspaces", {"name": "Long " * 20})
    screen = open_console(**world.as_owner(), viewport={"width": 380, "height": 760})
    wide = []
    for name, path in views.items():
        show(screen, path)
        screen.open_all(most=4)
        if not screen.fits():
            wide.append(name)
    assert wide == []


def test_a_tab_from_before_a_deployment_says_so_and_recovers(
    open_console: Opener, world: World
) -> None:
    screen = open_console(**world.as_owner())
    expect(screen.heading("Automations")).to_be_visible()
    screen.page.route("**/stats.js", lambda route: route.fulfill(status=404))
    with screen.refusals(404):
        screen.go("#/stats")
        expect(screen.heading("This view cannot be shown")).to_be_focused()
    screen.page.unroute("**/stats.js")
    screen.button("Try again").click()
    expect(screen.heading("Stats")).to_be_visible()


@pytest.mark.timeout(600)
@pytest.mark.skipif(not os.environ.get("WHENTHEN_SCREENSHOTS"), reason="makes docs/images anew")
def test_pictures_of_the_main_views(
    open_console: Opener, everything: tuple[World, dict[str, str]]
) -> None:
    world, views = everything
    IMAGES.mkdir(exist_ok=True)
    for scheme in SCHEMES:
        size = {"width": 1280, "height": 760}
        screen = open_console(**world.as_owner(), viewport=size, color_scheme=scheme)
        for name, file in PICTURES.items():
            show(screen, views[name])
            if name == "dry run":
                screen.button("Dry run").click()
                expect(screen.page.get_by_text("It would")).to_be_visible()
            picture = of_256_colours(screen.page.screenshot())
            assert len(picture) <= IMAGE_MAX_BYTES, name
            Path(IMAGES, f"{file}-{scheme}.png").write_bytes(picture)


def of_256_colours(png: bytes) -> bytes:
    """The same picture, a third as large."""
    small = io.BytesIO()
    with Image.open(io.BytesIO(png)) as picture:
        picture.convert("RGB").quantize().save(small, "PNG", optimize=True)
    return small.getvalue()
