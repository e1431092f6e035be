"""Runs single actions through the engine and tells what became of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.integration.engine_world import World


def empty(world: World) -> World:
    """Return `world` after taking away what earlier tests of its database have left."""
    for table in ("automation_runs", "automation_run_steps", "outbox", "notifications", "pages"):
        world.sql(f"delete from {table}")
    return world


@dataclass(frozen=True)
class Acted:
    """What became of a run of one action: the run, and the events that the action emitted."""

    run: Mapping[str, Any]
    events: Sequence[Mapping[str, Any]]

    @property
    def output(self) -> Any:
        assert self.run["status"] == "SUCCEEDED", self.run["error"]
        (action,) = self.run["output"]["actions"]
        return action["output"]

    @property
    def code(self) -> str:
        """The code of the failure, which left no output and emitted nothing."""
        assert (self.run["status"], self.run["output"]) == ("FAILED", None)
        assert self.events == []
        return str(self.run["error"]["code"])

    @property
    def message(self) -> str:
        return str(self.run["error"]["message"])


def act(
    world: World, type_: str, config: Mapping[str, Any], event: Mapping[str, Any] | None = None
) -> Acted:
    """Run one action for `event`, which is by default the creation of some record."""
    automation_id = world.add_automation(
        [{"type": type_, "config": config}],
        triggers=[{"type": "RECORD_CREATED", "config": {}}, {"type": "PAGE_CREATED", "config": {}}],
    )
    world.match(event or world.created_event(world.add_record()))
    (run,) = world.sql("select id from automation_runs where automation_id = :a", a=automation_id)
    world.execute([run["id"]])
    world.sql("update automations set status = 'PAUSED' where id = :a", a=automation_id)
    (after,) = world.sql("select * from automation_runs where id = :r", r=run["id"])
    emitted = [
        event
        for event in world.outbox_events()
        if (event["automationContext"] or {}).get("runId") == str(run["id"])
    ]
    return Acted(after, emitted)


def context_of(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the context of what a run at depth 0 emits."""
    return {
        "automationId": str(run["automation_id"]),
        "runId": str(run["id"]),
        "rootRunId": str(run["id"]),
        "depth": 1,
        "chain": [str(run["automation_id"])],
    }


def act_together(world: World, type_: str, configs: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Run one action for each of `configs` in one batch; return the outputs or codes in order."""
    for config in configs:
        world.add_automation([{"type": type_, "config": config}])
    world.match(world.created_event(world.add_record()))
    world.execute()
    ids = world.sql(
        "select automation_id from automation_versions v join automations a"
        " on a.id = v.automation_id where a.workspace_id = :w order by automation_id",
        w=world.workspace_id,
    )
    runs = {run["automation_id"]: run for run in world.runs()}
    return [
        run["error"]["code"] if run["error"] else run["output"]["actions"][0]["output"]
        for run in (runs[row["automation_id"]] for row in ids)
    ]
