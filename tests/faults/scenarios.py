"""What is going on when a fault happens: one invocation of one function, and what comes before."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.faults.outside import hook
from tests.faults.stand import Invocation, Stand, kinesis_record, sqs_event
from tests.integration.engine_world import TRIAGE_CONDITION, World
from whenthen.domain import json_text
from whenthen.domain.schemas.messages import encode
from whenthen.engine.align_schedules import align
from whenthen.store import outbox
from whenthen.store.new_id import new_id

UPDATE = {
    "type": "UPDATE_RECORD",
    "config": {"recordId": "from_trigger", "propertyValues": {"Status": "C"}},
}
NOTIFY = {"type": "CREATE_NOTIFICATION", "config": {"title": "told"}}
MISSING = {"type": "DELETE_RECORD", "config": {"recordId": str(new_id())}}
DAY_S = 86_400
# Past the lease of a claim, and the margin after which its row wakes.
LEASE_OVER_S = 231
# What an automation may start in a day by webhook, on this stand.
CHAINED_PER_DAY = 3

Actions = Sequence[Mapping[str, Any]]


def delay(seconds: int) -> dict[str, Any]:
    return {"type": "DELAY", "config": {"seconds": seconds}}


@dataclass(frozen=True)
class Scenario:
    """`ends`: how many runs of each status there are when everything has come to rest."""

    prepare: Callable[[Stand, World], Invocation]
    ends: Mapping[str, int]


def waiting_runs(
    stand: Stand, world: World, actions: Actions, *, count: int = 1, condition: Any = None
) -> list[str]:
    """Let that many events start runs of one automation; return the messages of the runs."""
    world.add_automation(list(actions), condition=condition)
    events = [world.created_event(world.add_record(Status="A"), Status="A") for _ in range(count)]
    world.match(*events)
    # Delayed messages of earlier worlds may become visible now.
    mine = {encode(run_id) for run_id in run_ids(world)}
    bodies = [body for body in stand.take_messages("RUN_QUEUE_URL") if body in mine]
    assert len(bodies) == count, bodies
    return bodies


def run_ids(world: World) -> list[Any]:
    rows = world.sql("select id from automation_runs where workspace_id = :w", w=world.workspace_id)
    return [row["id"] for row in rows]


# ----------------------------------------------------------------------------- the matcher


def match(_stand: Stand, world: World) -> Invocation:
    for _ in range(2):
        world.add_automation([NOTIFY])
    events = [world.created_event(world.add_record()) for _ in range(2)]
    records = [kinesis_record(json_text.dumps(event).encode()) for event in events]
    return Invocation("stream-matcher", {"Records": records})


def match_from_outbox(_stand: Stand, world: World) -> Invocation:
    world.add_automation([NOTIFY])
    told = world.created_event(world.add_record())
    event = outbox.new_event(
        workspace_id=world.workspace_id, type=told["type"], payload=told["payload"]
    )
    world.in_transaction(lambda connection: outbox.add(connection, [event]))
    record = json_text.dumps({**told, "id": event.event_id, "outboxId": str(event.id)}).encode()
    return Invocation("stream-matcher", {"Records": [kinesis_record(record)]})


def match_beside_a_bad_record(_stand: Stand, world: World) -> Invocation:
    world.add_automation([NOTIFY])
    event = json_text.dumps(world.created_event(world.add_record())).encode()
    records = [kinesis_record(b"{not json"), kinesis_record(event)]
    return Invocation("stream-matcher", {"Records": records})


def trip_the_breaker(_stand: Stand, world: World) -> Invocation:
    hooked = world.add_automation([NOTIFY], triggers=[{"type": "WEBHOOK", "config": {}}])
    calls = [
        {
            "id": str(new_id()),
            "type": "webhook.received",
            "workspaceId": str(world.workspace_id),
            "payload": {"automationId": str(hooked)},
        }
        for _ in range(CHAINED_PER_DAY + 2)
    ]
    records = [kinesis_record(json_text.dumps(call).encode()) for call in calls]
    return Invocation("stream-matcher", {"Records": records})


# ---------------------------------------------------------------------------- the executor


def execute(
    stand: Stand,
    world: World,
    *,
    actions: Actions,
    count: int = 1,
    condition: Any = None,
    remaining_s: float = 180,
) -> Invocation:
    bodies = waiting_runs(stand, world, actions, count=count, condition=condition)
    return Invocation("run-executor", sqs_event(bodies), remaining_s=remaining_s)


def execute_on_one_record(stand: Stand, world: World) -> Invocation:
    """Let one event start two runs whose second steps update its record: they cannot share it."""
    for _ in range(2):
        world.add_automation([NOTIFY, UPDATE, NOTIFY])
    world.match(world.created_event(world.add_record(Status="A"), Status="A"))
    mine = {encode(run_id) for run_id in run_ids(world)}
    bodies = [body for body in stand.take_messages("RUN_QUEUE_URL") if body in mine]
    assert len(bodies) == 2, bodies
    return Invocation("run-executor", sqs_event(bodies))


def execute_suspects(stand: Stand, world: World) -> Invocation:
    bodies = waiting_runs(stand, world, [hook("ok"), NOTIFY], count=3)
    world.sql(
        "update automation_runs set crash_count = 1 where id = any(cast(:r as uuid[]))",
        r=run_ids(world)[:2],
    )
    return Invocation("run-executor", sqs_event(bodies))


def execute_too_early(stand: Stand, world: World) -> Invocation:
    bodies = waiting_runs(stand, world, [NOTIFY])
    world.sql(
        "update automation_runs set due_at = whenthen_now() + interval '300 seconds',"
        " enqueue_after = whenthen_now() + interval '360 seconds' where workspace_id = :w",
        w=world.workspace_id,
    )
    return Invocation("run-executor", sqs_event(bodies))


def wake_a_delay(stand: Stand, world: World, *, actions: Actions) -> Invocation:
    bodies = waiting_runs(stand, world, actions)
    world.execute(run_ids(world))
    return Invocation("run-executor", sqs_event(bodies), offset_s=61)


# ---------------------------------------------------------------------------- the reconciler


def tick(_stand: Stand, world: World, *, late_s: int = 0, catch_up: str = "none") -> Invocation:
    """Let an automation with two hourly schedules be due, since so long."""
    config = {"runEvery": 3_600, "catchUp": catch_up}
    automation_id = world.add_automation(
        [NOTIFY], triggers=[{"type": "SCHEDULE", "config": config}] * 2
    )
    world.in_transaction(lambda connection: align(connection, [automation_id], activated=True))
    world.sql(
        "update schedules set anchor_at = anchor_at - interval '1 second' * (3600 + :s),"
        " next_at = next_at - interval '1 second' * (3600 + :s) where automation_id = :a",
        s=late_s,
        a=automation_id,
    )
    return Invocation("schedule-reconciler", {})


# ---------------------------------------------------------------------------- the watchdog


def sweep_a_lost_message(stand: Stand, world: World) -> Invocation:
    waiting_runs(stand, world, [NOTIFY], count=2)
    return Invocation("run-watchdog", {}, offset_s=61)


def sweep_a_crash(stand: Stand, world: World, *, crashes: int = 0) -> Invocation:
    waiting_runs(stand, world, [NOTIFY, hook("ok")])
    world.sql(
        "update automation_runs set crash_count = :n where workspace_id = :w",
        n=crashes,
        w=world.workspace_id,
    )
    world.claim(run_ids(world))
    return Invocation("run-watchdog", {}, offset_s=LEASE_OVER_S)


def sweep_a_long_delay(stand: Stand, world: World) -> Invocation:
    waiting_runs(stand, world, [NOTIFY, delay(DAY_S), NOTIFY])
    world.execute(run_ids(world))
    return Invocation("run-watchdog", {}, offset_s=DAY_S - 60)


def dead_run(stand: Stand, world: World) -> list[str]:
    """A run that has just died; return its notice."""
    waiting_runs(stand, world, [hook("down", retries=0)])
    world.execute(run_ids(world))
    notices = stand.take_messages("NOTICE_QUEUE_URL")
    assert len(notices) == 1
    return notices


def sweep_a_lost_notice(stand: Stand, world: World) -> Invocation:
    dead_run(stand, world)
    return Invocation("run-watchdog", {}, offset_s=121)


def relay_the_outbox(_stand: Stand, world: World) -> Invocation:
    world.add_automation([NOTIFY])
    told = world.created_event(world.add_record())
    events = [
        outbox.new_event(
            workspace_id=world.workspace_id, type=told["type"], payload=told["payload"]
        )
        for _ in range(2)
    ]
    world.in_transaction(lambda connection: outbox.add(connection, events))
    return Invocation("run-watchdog", {}, offset_s=61)


def void_the_leases(stand: Stand, world: World) -> Invocation:
    waiting_runs(stand, world, [NOTIFY, hook("ok")], count=2)
    world.claim(run_ids(world)[:1])
    return Invocation("run-watchdog", {"workersGone": True})


# ---------------------------------------------------------------------------- the notifier


def tell_a_death(stand: Stand, world: World) -> Invocation:
    return Invocation("dlq-notifier", sqs_event(dead_run(stand, world)))


def tell_a_death_after_a_manual_retry(stand: Stand, world: World) -> Invocation:
    notices = dead_run(stand, world)
    (run_id,) = run_ids(world)
    world.retry(run_id)
    return Invocation("dlq-notifier", sqs_event(notices))


def take_back_a_message(stand: Stand, world: World) -> Invocation:
    waiting_runs(stand, world, [NOTIFY])
    return Invocation("dlq-notifier", sqs_event([encode(run_ids(world)[0])]))


_LATER = {**hook("ok"), "timeoutMs": 60_000}

SCENARIOS: dict[str, Scenario] = {
    "match a batch": Scenario(match, {"SUCCEEDED": 4}),
    "match from the outbox": Scenario(match_from_outbox, {"SUCCEEDED": 1}),
    "match beside a bad record": Scenario(match_beside_a_bad_record, {"SUCCEEDED": 1}),
    "match above the day's limit": Scenario(trip_the_breaker, {"SUCCEEDED": CHAINED_PER_DAY + 2}),
    "claim, one data step": Scenario(partial(execute, actions=[NOTIFY]), {"SUCCEEDED": 1}),
    "two data steps": Scenario(partial(execute, actions=[UPDATE, NOTIFY]), {"SUCCEEDED": 1}),
    "data steps of three runs": Scenario(
        partial(execute, actions=[UPDATE, NOTIFY], count=3), {"SUCCEEDED": 3}
    ),
    "three data steps of two runs, then outside": Scenario(
        partial(execute, actions=[NOTIFY, UPDATE, NOTIFY, hook("ok")], count=2), {"SUCCEEDED": 2}
    ),
    "three data steps of two runs, then one that is refused": Scenario(
        partial(execute, actions=[NOTIFY, UPDATE, NOTIFY, MISSING], count=2), {"FAILED": 2}
    ),
    "three data steps, then a delay begins": Scenario(
        partial(execute, actions=[NOTIFY, UPDATE, NOTIFY, delay(60), NOTIFY]), {"SUCCEEDED": 1}
    ),
    "data steps that go one by one": Scenario(execute_on_one_record, {"SUCCEEDED": 2}),
    "outside step, data step": Scenario(
        partial(execute, actions=[hook("ok"), NOTIFY]), {"SUCCEEDED": 1}
    ),
    "data step, last step outside": Scenario(
        partial(execute, actions=[NOTIFY, hook("ok")]), {"SUCCEEDED": 1}
    ),
    "mixed steps of two runs": Scenario(
        partial(execute, actions=[NOTIFY, hook("ok"), UPDATE], count=2), {"SUCCEEDED": 2}
    ),
    "retry hop": Scenario(partial(execute, actions=[NOTIFY, hook("flaky")]), {"SUCCEEDED": 1}),
    "death and notice": Scenario(
        partial(execute, actions=[NOTIFY, hook("down", retries=0)]), {"DEAD_LETTER": 1}
    ),
    "fatal failure": Scenario(partial(execute, actions=[NOTIFY, hook("refuses")]), {"FAILED": 1}),
    "skip by condition": Scenario(
        partial(execute, actions=[NOTIFY], condition=TRIAGE_CONDITION), {"SUCCEEDED": 1}
    ),
    "continuation": Scenario(
        partial(execute, actions=[NOTIFY, _LATER], remaining_s=45), {"SUCCEEDED": 1}
    ),
    "a delay begins": Scenario(
        partial(execute, actions=[NOTIFY, delay(60), UPDATE]), {"SUCCEEDED": 1}
    ),
    "a delay that comes first, and last": Scenario(
        partial(execute, actions=[delay(60)], count=2), {"SUCCEEDED": 2}
    ),
    "a delay ends, outside step": Scenario(
        partial(wake_a_delay, actions=[delay(60), hook("ok"), NOTIFY]), {"SUCCEEDED": 1}
    ),
    "a delay ends, another begins": Scenario(
        partial(wake_a_delay, actions=[NOTIFY, delay(60), delay(60)]), {"SUCCEEDED": 1}
    ),
    "suspects": Scenario(execute_suspects, {"SUCCEEDED": 3}),
    "message too early": Scenario(execute_too_early, {"SUCCEEDED": 1}),
    "tick": Scenario(tick, {"SUCCEEDED": 2}),
    "tick that catches up": Scenario(
        partial(tick, late_s=1_200, catch_up="last"), {"SUCCEEDED": 2}
    ),
    "sweep of lost messages": Scenario(sweep_a_lost_message, {"SUCCEEDED": 2}),
    "sweep of a long delay": Scenario(sweep_a_long_delay, {"SUCCEEDED": 1}),
    "sweep of a crash": Scenario(sweep_a_crash, {"SUCCEEDED": 1}),
    "sweep of the last crash": Scenario(partial(sweep_a_crash, crashes=7), {"DEAD_LETTER": 1}),
    "sweep of a lost notice": Scenario(sweep_a_lost_notice, {"DEAD_LETTER": 1}),
    "outbox relay": Scenario(relay_the_outbox, {"SUCCEEDED": 2}),
    "all workers gone": Scenario(void_the_leases, {"SUCCEEDED": 2}),
    "notify": Scenario(tell_a_death, {"DEAD_LETTER": 1}),
    "notify after a manual retry": Scenario(tell_a_death_after_a_manual_retry, {"DEAD_LETTER": 1}),
    "poison message": Scenario(take_back_a_message, {"SUCCEEDED": 1}),
}
