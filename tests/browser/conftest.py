"""A running stack and Debian's Chromium; collected only when asked for by its path."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.identity_provider import IdentityProvider, running_provider
from tests.browser.screen import PATIENCE_MS, Screen
from tests.browser.world import World, make_world
from tests.e2e.conftest import REPOSITORY, Stack, folder_for_a_stack, start_stack

CHROMIUM = os.environ.get("WHENTHEN_CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
]
# Where the last screen of a failed test goes.
FAILED = REPOSITORY / "build" / "browser" / "failed"
Opener = Callable[..., Screen]
_OUTCOME = pytest.StashKey[bool]()


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    # `make test` runs without a browser.
    return None if any("tests/browser" in argument for argument in config.args) else True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    if report.when == "call":
        item.stash[_OUTCOME] = report.passed
    return report


@pytest.fixture(scope="session")
def provider() -> Iterator[IdentityProvider]:
    with running_provider() as running:
        yield running


@pytest.fixture(scope="session")
def stack(provider: IdentityProvider) -> Iterator[Stack]:
    with folder_for_a_stack() as folder:
        started = start_stack(folder / "data", **provider.settings)
        yield started
        assert started.stop() == 0


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def world(stack: Stack) -> World:
    """A workspace of the test's own, with a Tickets database and a VIEWER."""
    return make_world(stack)


@pytest.fixture
def open_console(
    request: pytest.FixtureRequest, browser: Browser, stack: Stack
) -> Iterator[Opener]:
    """Opens the console; at the end no screen may have met an error or run a stranger's code.

    Without a `token` nobody is signed in. `options` are those of a browser's context.
    """
    screens: list[Screen] = []

    def open_one(
        token: str | None = None, workspace_id: str | None = None, path: str = "#/", **options: Any
    ) -> Screen:
        asked = {"locale": "en-GB", "timezone_id": "Europe/Berlin", "reduced_motion": "reduce"}
        context = browser.new_context(base_url=stack.ready["url"], **{**asked, **options})
        context.set_default_timeout(PATIENCE_MS)
        screen = Screen(context.new_page())
        screens.append(screen)
        if token:
            screen.be_signed_in(token, workspace_id)
        screen.page.goto(f"/{path}")
        return screen

    yield open_one
    passed = request.node.stash.get(_OUTCOME, False)
    for number, screen in enumerate(screens):
        if not passed:
            keep_screen(screen, f"{request.node.name[:80]}-{number}")
        found = screen.close()
        # What went wrong before says more than what came of it.
        assert not passed or found == []


def keep_screen(screen: Screen, name: str) -> None:
    FAILED.mkdir(parents=True, exist_ok=True)
    path = Path(FAILED, f"{name.replace('/', '_')}.png")
    screen.page.screenshot(path=path, full_page=True)
