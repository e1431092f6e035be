"""Whatever people and programs send is shown as the text that it is."""

from uuid import uuid4

import httpx
from playwright.sync_api import expect

from tests.browser.conftest import Opener
from tests.browser.screen import Screen
from tests.browser.world import World, make_world
from tests.e2e.conftest import Stack
from tests.e2e.stories import target_of_its_own, webhook
from tests.integration.webhook_target import respond

IMAGE = '"><img src=x onerror="window.__xss=1">'
SCRIPT = "</script><script>window.__xss=1</script>"
SVG = "'><svg/onload=window.__xss=1>"
LINK = "javascript:window.__xss=1"
TEMPLATE = "{{constructor.constructor('window.__xss=1')()}}"
HOSTILE = f"{IMAGE}{SCRIPT}{SVG}"


def hostile_world(stack: Stack) -> World:
    """A workspace whose every name is markup."""
    world = make_world(stack, f"W{HOSTILE}"[:100])
    properties = [
        {"name": f"P{IMAGE}", "type": "text"},
        {"name": "Status", "type": "select", "options": ["A", f"O{IMAGE}", LINK]},
    ]
    made = world.api.ok(
        "POST",
        f"/workspaces/{world.workspace_id}/databases",
        {"name": f"D{HOSTILE}"[:100], "properties": properties},
    )
    world.database_id = made["id"]
    return world


def test_markup_in_every_field_is_shown_as_text_in_every_view(
    open_console: Opener, stack: Stack
) -> None:
    world = hostile_world(stack)
    with target_of_its_own() as target:
        good = target.on("/good", respond(200, HOSTILE, x_said=IMAGE, content_type="text/html"))
        bad = target.on("/bad", respond(400, HOSTILE, content_type="text/html"))
        condition = {
            "field": {"ref": "property", "name": f"P{IMAGE}"},
            "operator": "neq",
            "value": SCRIPT,
        }
        made = world.automation(
            {"type": "CREATE_NOTIFICATION", "config": {"title": HOSTILE, "body": TEMPLATE[2:-2]}},
            {
                "type": "UPDATE_RECORD",
                "config": {"recordId": "from_trigger", "propertyValues": {f"P{IMAGE}": SVG}},
            },
            webhook(good, retries=0),
            webhook(bad, retries=0),
            name=f"N{HOSTILE}"[:100],
            description=HOSTILE,
            triggers=[{"type": "RECORD_CREATED", "config": {}}, {"type": "WEBHOOK", "config": {}}],
            condition=condition,
        )
        hook = httpx.post(
            made["webhook"]["url"],
            json={"event": "x", IMAGE: HOSTILE, "url": LINK},
            headers={"webhook-event": "javascript:alert"},
            timeout=60,
        )
        assert hook.status_code == 202
        world.record(**{f"P{IMAGE}": HOSTILE, "Status": f"O{IMAGE}"})
        run = world.run_with(made, "FAILED", count=2)
        by_record = next(one for one in world.runs(made) if one["triggerType"] == "record.created")
        home = f"#/automations/{made['id']}"
        screen = open_console(**world.as_owner())
        expect(screen.link(made["name"])).to_be_visible()
        shown = {
            "#/automations": [made["name"], HOSTILE],
            home: [made["name"], HOSTILE, SCRIPT, f"P{IMAGE}"],
            f"{home}/edit": [made["name"]],
            f"{home}/versions": [made["name"]],
            f"{home}/dry-run?runId={by_record['id']}": [made["name"]],
            "#/runs": [made["name"]],
            f"#/runs/{run['id']}": [made["name"], HOSTILE],
            f"#/runs/{by_record['id']}": [made["name"], HOSTILE, IMAGE],
            "#/dead-letters": [],
            "#/stats": [made["name"]],
            "#/activity": [],
            f"#/runs?recordId={IMAGE}&status={SCRIPT}": [],
            f"#/runs/{IMAGE}": [],
            f"#/{HOSTILE}": [],
        }
        for path, texts in shown.items():
            with screen.refusals(404, 422):
                look_at(screen, path)
            page = screen.page.inner_text("body")
            for text in texts:
                assert text.split("\n")[0][:60] in page.replace("\\", ""), path
        assert screen.page.locator("main img, main script, main iframe").count() == 0


def look_at(screen: Screen, path: str) -> None:
    """Show a view with all that can be opened in it."""
    screen.go(path)
    expect(screen.page.locator("main h1")).to_be_visible()
    expect(screen.page.get_by_text("Loading …")).to_have_count(0)
    if "dry-run" in path:
        screen.button("Dry run").click()
        expect(screen.page.get_by_text("It would")).to_be_visible()
    screen.open_all()
    assert screen.page.evaluate("window.__xss") is None
    # Nothing that is there calls code or leads out.
    strange = "[onerror], [onload], [onclick], [href^='javascript:'], [src^='javascript:'], [style]"
    allowed = ".menu[style]"
    found = screen.page.locator(f"main :is({strange}):not({allowed})")
    assert found.count() == 0, found.first.evaluate("node => node.outerHTML")


def test_hostile_people_and_workspaces_are_texts_in_the_frame(
    open_console: Opener, stack: Stack
) -> None:
    world = hostile_world(stack)
    email = f"mallory+{uuid4().hex}@example.test"
    members = f"/workspaces/{world.workspace_id}/members"
    world.api.ok("POST", members, {"email": email, "role": "ADMIN"})
    # An identity provider calls people whatever they like.
    stack.sql("update users set name = :name where email = :email", name=HOSTILE, email=email)
    screen = open_console(**world.as_owner(), path="#/automations/new")
    chosen = screen.select("Workspace").locator("option:checked")
    expect(chosen).to_have_text(f"W{HOSTILE}"[:100])
    screen.pick("Add an action", "Create notification")
    expect(screen.page.get_by_text(HOSTILE)).to_be_visible()
    screen.select("Database").select_option(f"D{HOSTILE}"[:100])
    screen.button("+ Add a condition").click()
    expect(screen.select("What to look at").locator("option:checked")).to_have_text(f"P{IMAGE}")


def test_a_stranger_gets_no_script_in_by_the_address(open_console: Opener, world: World) -> None:
    for path in (
        f"?x={SCRIPT}",
        f"?state={SCRIPT}&code={IMAGE}&error_description={SVG}",
        f"#{IMAGE}",
    ):
        screen = open_console(path=path)
        expect(screen.heading("Sign in to whenthen")).to_be_visible()
        assert screen.page.locator("main img:not([alt=''])").count() == 0
    assert world.runs() == []
