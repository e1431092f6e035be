"""The automations of the soak, and what each event that starts them must come to."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from tests.faults.soak_target import Moods
from tests.integration.engine_world import World
from whenthen.engine.webhook_secrets import WebhookSecret, make_secret

NOTIFY = {"type": "CREATE_NOTIFICATION", "config": {"title": "told"}}
UPDATE = {
    "type": "UPDATE_RECORD",
    "config": {"recordId": "from_trigger", "propertyValues": {"Name": "{{run.id}}"}},
}
POISON = {"type": "AI_GENERATE", "config": {"prompt": "the process dies of this"}}
WAIT = {"type": "DELAY", "config": {"seconds": 200}}
NEVER = {"field": {"ref": "property", "name": "Status"}, "operator": "eq", "value": "B"}
NAME_CHANGED = {"type": "PROPERTY_CHANGED", "config": {"properties": ["Name"]}}
CREATED = {"type": "RECORD_CREATED", "config": {}}
HOOK_DOWN = "WEBHOOK_HTTP_RETRIABLE"
BY_RECORD = ("stream", "outbox")


def create(database_id: UUID) -> dict[str, Any]:
    values = {"databaseId": str(database_id), "propertyValues": {"Name": "{{run.id}}"}}
    return {"type": "CREATE_RECORD", "config": values}


@dataclass
class Kind:
    """One automation: its legal ends, and how many runs the event of each of its steps starts."""

    ends: frozenset[str]
    starts: Mapping[int, int] = field(default_factory=dict)
    is_poison: bool = False


@dataclass
class Scene:
    """What one event sets going: `weight` of all draws, the ways in, and the runs it starts."""

    weight: int
    database_id: UUID
    ways: Sequence[str]
    runs: int = 1
    secret: WebhookSecret | None = None
    manual: UUID | None = None


@dataclass
class SoakWorld:
    """All scenes in one workspace; `kinds` by automation, `scenes` by name."""

    world: World
    moods: Moods
    kinds: dict[UUID, Kind] = field(default_factory=dict)
    scenes: dict[str, Scene] = field(default_factory=dict)
    # Databases into which steps create records, each named after its run.
    sinks: set[UUID] = field(default_factory=set)

    def __post_init__(self) -> None:
        for add in (
            self._data,
            self._mixed,
            self._fan,
            self._chain,
            self._ping_pong,
            self._self_trigger,
            self._hooked,
            self._endings,
        ):
            add()

    def draw(self, draw: random.Random) -> Scene:
        scenes = [scene for scene in self.scenes.values() if scene.weight]
        return draw.choices(scenes, [scene.weight for scene in scenes])[0]

    def hook(self, mood: str, **more: Any) -> dict[str, Any]:
        return {"type": "SEND_WEBHOOK", "config": {"url": self.moods.url(mood)}, **more}

    def _add(
        self,
        database_id: UUID,
        actions: Sequence[Mapping[str, Any]],
        *ends: str,
        starts: Mapping[int, int] | None = None,
        **options: Any,
    ) -> UUID:
        added = self.world.add_automation(list(actions), database_id=database_id, **options)
        self.kinds[added] = Kind(frozenset(ends), starts or {}, is_poison=POISON in actions)
        return added

    def _sink(self) -> UUID:
        sink = self.world.add_database()
        self.sinks.add(sink)
        return sink

    def _data(self) -> None:
        here, sink = self.world.add_database(), self._sink()
        kept = {"recordId": "{{actions[1].output.recordId}}"}
        delete = {"type": "DELETE_RECORD", "config": kept}
        actions = [NOTIFY, create(sink), UPDATE, create(sink), delete, NOTIFY]
        added = self._add(here, actions, "SUCCEEDED")
        self.scenes["data"] = Scene(20, here, (*BY_RECORD, "manual"), manual=added)

    def _mixed(self) -> None:
        here, sink = self.world.add_database(), self._sink()
        actions = [NOTIFY, self.hook("moody"), create(sink), self.hook("ok"), UPDATE]
        self._add(here, actions, "SUCCEEDED", f"DEAD_LETTER {HOOK_DOWN}")
        self.scenes["mixed"] = Scene(25, here, BY_RECORD)

    def _fan(self) -> None:
        here = self.world.add_database()
        # The update is an event for the second and the fourth.
        self._add(here, [NOTIFY, UPDATE], "SUCCEEDED", starts={1: 2})
        self._add(here, [self.hook("ok"), NOTIFY], "SUCCEEDED", triggers=[CREATED, NAME_CHANGED])
        self._add(here, [NOTIFY], "SUCCEEDED conditions_not_met", condition=NEVER)
        self._add(here, [NOTIFY], "SUCCEEDED", triggers=[NAME_CHANGED])
        self.scenes["fan"] = Scene(10, here, BY_RECORD, runs=3)

    def _chain(self) -> None:
        here, there = self.world.add_database(), self.world.add_database()
        self._add(here, [create(there), NOTIFY], "SUCCEEDED", starts={0: 1})
        actions = [self.hook("moody"), UPDATE]
        self._add(there, actions, "SUCCEEDED", f"DEAD_LETTER {HOOK_DOWN}", starts={1: 1})
        self._add(there, [NOTIFY], "SUCCEEDED", triggers=[NAME_CHANGED])
        self.sinks.add(there)
        self.scenes["chain"] = Scene(10, here, BY_RECORD)

    def _ping_pong(self) -> None:
        here, there = self.world.add_database(), self.world.add_database()
        ends = ("SUCCEEDED", "SUCCEEDED depth_limit")
        self._add(here, [create(there)], *ends, starts={0: 1})
        self._add(there, [create(here)], *ends, starts={0: 1})
        self.scenes["ping-pong"] = Scene(2, here, BY_RECORD)

    def _self_trigger(self) -> None:
        here = self.world.add_database()
        self._add(here, [create(here)], "SUCCEEDED", "SUCCEEDED self_trigger", starts={0: 1})
        self.scenes["self"] = Scene(2, here, BY_RECORD)

    def _hooked(self) -> None:
        here, secret = self.world.add_database(), make_secret()
        actions = [NOTIFY, self.hook("moody"), self.hook("ok")]
        triggers = [{"type": "WEBHOOK", "config": {}}, CREATED]
        ends = ("SUCCEEDED", f"DEAD_LETTER {HOOK_DOWN}")
        hooked = self._add(here, actions, *ends, triggers=triggers)
        self.world.sql(
            "update automation_triggers set secret_hash = :s"
            " where automation_id = :a and type = 'WEBHOOK'",
            s=secret.digest,
            a=hooked,
        )
        self.scenes["hooked"] = Scene(20, here, ("webhook", "webhook", "stream"), secret=secret)

    def _endings(self) -> None:
        endings: dict[str, tuple[int, Sequence[Mapping[str, Any]], str]] = {
            "down": (4, [NOTIFY, self.hook("down", retries=1)], f"DEAD_LETTER {HOOK_DOWN}"),
            "refused": (4, [NOTIFY, self.hook("refuses")], "FAILED WEBHOOK_HTTP_ERROR"),
            "sleepy": (1, [self.hook("sleeps", timeoutMs=1_000)], "FAILED ACTION_TIMEOUT"),
            "patient": (4, [NOTIFY, WAIT, NOTIFY, self.hook("ok")], "SUCCEEDED"),
            # Drawn by nobody: each costs eight processes.
            "poison": (0, [NOTIFY, POISON], "DEAD_LETTER WORKER_CRASHED"),
        }
        for name, (weight, actions, end) in endings.items():
            here = self.world.add_database()
            self._add(here, actions, end)
            self.scenes[name] = Scene(weight, here, BY_RECORD)


def end_of(run: Mapping[str, Any]) -> str:
    """Return how a run ended: `SUCCEEDED`, `SUCCEEDED self_trigger`, `FAILED CANCELLED`."""
    skipped = (run["output"] or {}).get("skipped")
    why = skipped or (run["error"] or {}).get("code")
    return f"{run['status']} {why}" if why else str(run["status"])
