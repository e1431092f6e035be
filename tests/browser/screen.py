"""One page of the browser, as somebody sees it, and all that goes wrong in it."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

from playwright.sync_api import ConsoleMessage, Locator, Page, expect

from tests.e2e.conftest import REPOSITORY

PATIENCE_MS: Final = 60_000
expect.set_options(timeout=PATIENCE_MS)
# What a violated policy and a stranger's code leave behind, in each document of the page.
WATCH: Final = """
window.__problems = [];
document.addEventListener('securitypolicyviolation', (event) => {
  window.__problems.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`);
});
"""
LOG_IN: Final = """
if (!sessionStorage.getItem('begun')) {
  sessionStorage.setItem('begun', 'yes');
  sessionStorage.setItem('whenthen.session', %s);
}
"""
REFUSED: Final = re.compile(r"Failed to load resource: .* status of (\d+)")
AXE: Final = REPOSITORY / "build" / "browser" / "node_modules" / "axe-core" / "axe.min.js"


@cache
def axe_source() -> str:
    return AXE.read_text("utf-8")


class Screen:
    """`page` is Playwright's."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self._problems: list[str] = []
        self._refusals: set[int] = set()
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self._problems.append(f"exception: {error}"))
        page.on("request", lambda request: self.requests.append(request.url))
        page.add_init_script(WATCH)

    def be_signed_in(self, token: str, workspace_id: str | None) -> None:
        """Let the tab begin as if somebody had signed in here before."""
        kept = json.dumps({"token": token, "workspaceId": workspace_id})
        self.page.add_init_script(LOG_IN % json.dumps(kept))

    def go(self, hash_: str) -> None:
        """Follow a link within the console, and wait for the view."""
        self.page.evaluate("hash => { location.hash = hash }", hash_)
        self.settled()

    def settled(self) -> None:
        """Return once a view stands where a view should be."""
        expect(self.page.locator("main:not([aria-busy])")).to_be_visible()

    @contextmanager
    def refusals(self, *statuses: int) -> Iterator[None]:
        """Let requests be refused with these statuses, which the browser notes as errors."""
        self._refusals = set(statuses)
        yield
        self._refusals = set()

    # ---- what is on it, by role and name

    def button(self, name: str, within: Locator | None = None, **options: Any) -> Locator:
        return self._role("button", name, within, **options)

    def link(self, name: str, within: Locator | None = None, **options: Any) -> Locator:
        return self._role("link", name, within, **options)

    def heading(self, name: str, within: Locator | None = None, **options: Any) -> Locator:
        return self._role("heading", name, within, **options)

    def region(self, name: str, within: Locator | None = None) -> Locator:
        return self._role("region", name, within)

    def select(self, name: str, within: Locator | None = None) -> Locator:
        return self._role("combobox", name, within)

    def textbox(self, name: str, within: Locator | None = None) -> Locator:
        return self._role("textbox", name, within)

    def dialog(self) -> Locator:
        return self.page.locator("dialog[open]")

    def status_of_run(self) -> Locator:
        return self.page.locator("main .head [role=status]")

    def _role(self, role: Any, name: str, within: Locator | None, **options: Any) -> Locator:
        place: Any = within or self.page
        found: Locator = place.get_by_role(role, name=name, **{"exact": True, **options})
        return found

    def pick(self, menu: str, item: str, within: Locator | None = None) -> None:
        """Open a menu and choose from it."""
        self.button(menu, within).click()
        shown = self.page.get_by_role("dialog", name=menu, exact=True)
        shown.get_by_role("button", name=item, exact=True).click()

    def open_all(self, most: int = 20) -> None:
        """Open what is folded away in the view, from the top."""
        folded = self.page.locator("main details:not([open]) > summary:visible")
        for _ in range(most):
            if folded.count() == 0:
                return
            # At its beginning: there may be links in it.
            folded.first.click(position={"x": 8, "y": 8})

    # ---- what there is to be said of it

    def violations(self) -> list[str]:
        """What axe-core finds that keeps people out, as `rule: element`."""
        self.page.evaluate(axe_source())
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{one['id']} ({one['impact']}): {node['html'][:200]}"
            for one in found["violations"]
            if one["impact"] in {"serious", "critical"}
            for node in one["nodes"]
        ]

    def is_focused(self, target: Locator) -> bool:
        return bool(target.count()) and bool(
            target.first.evaluate("node => node === document.activeElement")
        )

    def fits(self) -> bool:
        """Whether nothing makes the page itself scroll sideways."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))

    def close(self) -> list[str]:
        """Close it and return all that went wrong in it."""
        ran = self.page.evaluate("window.__xss")
        problems = [*self._problems, *self.page.evaluate("window.__problems")]
        self.page.context.close()
        return [*problems, *(["a stranger's code ran"] if ran is not None else [])]

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type not in {"error", "warning"}:
            return
        refused = REFUSED.match(message.text)
        if refused is None or int(refused[1]) not in self._refusals:
            self._problems.append(f"{message.type}: {message.text} {message.location}")


def eventually_equal(look: Callable[[], Any], wanted: Any, page: Page) -> None:
    """Wait until `look` returns `wanted`, with the page alive meanwhile."""
    waited_ms = 0
    while (found := look()) != wanted:
        assert waited_ms < PATIENCE_MS, f"{found!r} is not {wanted!r}"
        page.wait_for_timeout(100)
        waited_ms += 100
