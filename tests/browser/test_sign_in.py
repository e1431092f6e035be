"""Coming in and going out: by a token, by the identity provider."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opener
from tests.browser.identity_provider import IdentityProvider
from tests.browser.screen import Screen, eventually_equal
from tests.browser.world import World

BY_PROVIDER = "Sign in with your organisation"


@pytest.fixture
def honest(provider: IdentityProvider) -> Iterator[IdentityProvider]:
    yield provider
    provider.spoil, provider.claims, provider.lifetime_s = {}, {}, 300


def sign_in(screen: Screen, token: str) -> None:
    screen.textbox("API token").fill(token)
    screen.button("Sign in").click()


def test_a_token_opens_the_console_and_sign_out_closes_it(
    open_console: Opener, world: World
) -> None:
    screen = open_console()
    expect(screen.heading("Sign in to whenthen")).to_be_visible()
    sign_in(screen, world.viewer_token)
    expect(screen.heading("Automations")).to_be_focused()
    assert screen.page.title() == "Automations · whenthen"

    screen.button("Sign out").click()
    expect(screen.heading("Sign in to whenthen")).to_be_visible()
    assert screen.page.evaluate("Object.keys(sessionStorage)") == []
    screen.page.go_back()
    screen.page.reload()
    expect(screen.heading("Sign in to whenthen")).to_be_visible()


def test_a_token_that_is_not_good_is_refused_at_its_field(open_console: Opener) -> None:
    screen = open_console()
    with screen.refusals(401):
        sign_in(screen, "wt_invented")
        expect(screen.page.get_by_role("alert")).to_have_text(
            ["This token is not valid, or no longer.", ""]
        )
    field = screen.textbox("API token")
    expect(field).to_be_focused()
    expect(field).to_have_accessible_description("This token is not valid, or no longer.")
    assert screen.page.evaluate("sessionStorage.length") == 0


def test_the_token_lasts_for_the_tab_and_goes_nowhere_else(
    open_console: Opener, world: World
) -> None:
    screen = open_console()
    sign_in(screen, world.owner_token)
    expect(screen.heading("Automations")).to_be_visible()
    screen.page.reload()
    expect(screen.heading("Automations")).to_be_visible()
    assert screen.page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
    other = screen.page.context.new_page()
    other.goto("/")
    expect(other.get_by_role("heading", name="Sign in to whenthen")).to_be_visible()
    assert not any(world.owner_token in url for url in screen.requests)


def test_who_signs_in_gets_where_they_wanted_to_go(open_console: Opener, world: World) -> None:
    screen = open_console(path="#/runs?status=FAILED")
    sign_in(screen, world.owner_token)
    expect(screen.heading("Runs")).to_be_visible()
    assert screen.page.url.endswith("#/runs?status=FAILED")


def test_a_revoked_token_ends_the_session_and_says_so(open_console: Opener, world: World) -> None:
    made = world.api.ok("POST", "/me/tokens", {"name": "short"})
    screen = open_console(made["token"], world.workspace_id, "#/runs")
    expect(screen.heading("Runs")).to_be_visible()
    with screen.refusals(401):
        world.api.ok("DELETE", f"/me/tokens/{made['id']}")
        expect(screen.page.get_by_role("alert").first).to_have_text(
            "Your session has ended. Sign in again."
        )
    sign_in(screen, world.owner_token)
    expect(screen.heading("Runs")).to_be_visible()


def test_somebody_in_several_workspaces_can_go_from_one_to_another(
    open_console: Opener, world: World
) -> None:
    automation = world.automation(status="DRAFT", name="Only here")
    screen = open_console(**world.as_owner())
    expect(screen.link("Only here")).to_be_visible()
    screen.select("Workspace").select_option("Demo")
    expect(screen.link("Only here")).to_have_count(0)
    screen.page.reload()
    expect(screen.select("Workspace").locator("option:checked")).to_have_text("Demo")
    screen.select("Workspace").select_option(world.workspace_id)
    expect(screen.link("Only here")).to_have_attribute("href", f"#/automations/{automation['id']}")


# ---- the identity provider


def test_the_provider_signs_somebody_in_where_they_wanted_to_go(
    open_console: Opener, honest: IdentityProvider
) -> None:
    screen = open_console(path="#/runs")
    screen.button(BY_PROVIDER).click()
    expect(screen.heading("Runs")).to_be_visible()
    expect(screen.page.get_by_text("owner@demo.test")).to_be_visible()
    assert "code=" not in screen.page.url
    assert honest.grants[-1]["grant_type"] == "authorization_code"
    screen.page.reload()
    expect(screen.heading("Runs")).to_be_visible()


def test_the_token_is_renewed_before_it_expires(
    open_console: Opener, honest: IdentityProvider
) -> None:
    # Renewed after half of it.
    honest.lifetime_s = 4
    screen = open_console()
    screen.button(BY_PROVIDER).click()
    expect(screen.heading("Automations")).to_be_visible()

    def first() -> Any:
        return [grant["grant_type"] for grant in honest.grants[-2:]][-1]

    eventually_equal(first, "refresh_token", screen.page)
    honest.lifetime_s = 300
    screen.go("#/runs")
    expect(screen.heading("Runs")).to_be_visible()


SPOILT: list[tuple[str, Callable[[IdentityProvider], None], str]] = [
    ("another state", lambda p: p.spoil.update(state="x"), "was not begun in this tab"),
    ("another issuer", lambda p: p.spoil.update(iss="https://x"), "This answer is another"),
    ("a nonce of before", lambda p: p.claims.update(nonce="x"), "answered somebody else"),
    ("another audience", lambda p: p.claims.update(aud="x"), "not for this console"),
    ("an old token", lambda p: p.claims.update(exp=1), "not for this console"),
]


@pytest.mark.parametrize(("spoil", "said"), [row[1:] for row in SPOILT], ids=[r[0] for r in SPOILT])
def test_what_the_provider_answers_is_checked(
    open_console: Opener,
    honest: IdentityProvider,
    spoil: Callable[[IdentityProvider], None],
    said: str,
) -> None:
    spoil(honest)
    screen = open_console()
    screen.button(BY_PROVIDER).click()
    expect(screen.page.get_by_role("alert").first).to_contain_text(said)
    assert screen.page.evaluate("sessionStorage.getItem('whenthen.session')") is None
    assert "state=" not in screen.page.url


def test_a_code_from_elsewhere_signs_nobody_in(
    open_console: Opener, honest: IdentityProvider
) -> None:
    before = len(honest.grants)
    screen = open_console(path="?code=stolen&state=guessed")
    expect(screen.page.get_by_role("alert").first).to_contain_text("was not begun in this tab")
    assert len(honest.grants) == before


def test_a_refused_code_is_an_error_and_no_session(
    open_console: Opener, honest: IdentityProvider
) -> None:
    honest.spoil["code"] = "unknown"
    screen = open_console()
    with screen.refusals(400):
        screen.button(BY_PROVIDER).click()
        expect(screen.page.get_by_role("alert").first).to_contain_text("invalid_grant")
