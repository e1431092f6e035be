"""A workspace in which something of everything has happened, for looking at all views."""

from tests.browser.world import NOTIFY, SET_C, STATUS_IS_B, World
from tests.e2e.stories import webhook

TITLES = ("Leaking tap", "Broken window", "Invoice 4711", "Login fails", "Late delivery")
NAME_IS_EMPTY = {"field": {"ref": "property", "name": "Name"}, "operator": "is_empty"}
CREATE_PAGE = {"type": "CREATE_PAGE", "config": {"title": "Report"}}
SCHEDULE = {
    "type": "SCHEDULE",
    "config": {"cron": "0 9 * * 1-5", "timeZone": "Europe/Berlin"},
}


def fill(world: World, target: str) -> dict[str, str]:
    """Have runs of each kind end, and return the address of each main view.

    `target` + "/crm" answers webhooks with 200, `target` + "/down" with 503.
    """
    triage = world.automation(
        SET_C,
        NOTIFY,
        webhook(f"{target}/crm", retries=0),
        condition={"and": [STATUS_IS_B, {"not": NAME_IS_EMPTY}]},
        description="Sorts what comes in and tells the CRM.",
    )
    broken = world.automation(NOTIFY, webhook(f"{target}/down", retries=0), name="Tell accounting")
    waiting = world.automation(
        webhook(f"{target}/down"), CREATE_PAGE, name="Weekly report", triggers=[SCHEDULE]
    )
    world.automation(name="Welcome mail", triggers=[], status="DRAFT")
    for title in TITLES:
        world.record(Name=title, Status="B")
    world.record(Name="Not for us", Status="A")
    world.api.ok("POST", f"/automations/{waiting['id']}/run")
    dead = world.run_with(broken, "DEAD_LETTER", count=len(TITLES) + 1)
    done = world.run_with(triage, "SUCCEEDED", count=len(TITLES) + 1)
    retried = next(run for run in world.runs(waiting))
    path = f"/automations/{triage['id']}"
    world.api.ok("PATCH", path, {"name": f"{triage['name']} now"})
    world.api.ok("PUT", f"/workspaces/{world.workspace_id}/secrets/CRM_KEY", {"value": "x" * 20})
    home = f"#{path}"
    return {
        "automations": "#/automations",
        "new automation": "#/automations/new",
        "automation": home,
        "edit": f"{home}/edit",
        "schedule": f"#/automations/{waiting['id']}/edit",
        "versions": f"{home}/versions",
        "dry run": f"{home}/dry-run?runId={done['id']}",
        "runs": "#/runs",
        "run": f"#/runs/{done['id']}",
        "dead run": f"#/runs/{dead['id']}",
        "waiting run": f"#/runs/{retried['id']}",
        "dead letters": "#/dead-letters",
        "stats": "#/stats",
        "activity": "#/activity",
        "secrets": "#/secrets",
        "unknown": "#/nowhere",
    }
