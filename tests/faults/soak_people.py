"""Who sets things going in the soak: hosts, senders of webhooks, people who run, retry, cancel."""

import random
from collections import Counter
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

from tests.faults.soak_services import Services
from tests.faults.soak_world import Scene, SoakWorld
from whenthen.domain.errors import ConflictError
from whenthen.domain.rules.classify import classify_error
from whenthen.engine import receive_webhook, start_manual_run, write_records
from whenthen.engine.publish import publish

# Of all committed events and messages, this share is never sent: its sender dies first.
SHARE_UNSENT = 0.1
# Of all events put by a host, this share is put twice.
SHARE_TWICE = 0.1


@dataclass
class People:
    """Acts through the use cases of the API; `awaited` counts, by event, the runs that must be."""

    soak: SoakWorld
    services: Services
    draw: random.Random
    awaited: Counter[str] = field(default_factory=Counter)
    manual: set[UUID] = field(default_factory=set)
    retried: int = 0
    cancelled: int = 0

    def act(self) -> None:
        """Let something happen that starts runs."""
        self.enter(self.soak.draw(self.draw))

    def enter(self, scene: Scene) -> None:
        match self.draw.choice(scene.ways):
            case "stream":
                self._host_event(scene)
            case "outbox":
                self._record(scene)
            case "webhook":
                self._webhook(scene)
            case _:
                self._manual_run(scene)

    def meddle(self) -> None:
        """Let a person retry a run that failed, or cancel one that has not ended.

        A stopped worker may hold the run's row: then the API answers 503, and the person leaves it.
        """
        try:
            if self.draw.random() < 0.5:
                self._retry()
            else:
                self._cancel()
        except SQLAlchemyError as error:
            if not classify_error(error).retryable:
                raise

    def _host_event(self, scene: Scene) -> None:
        world = self.soak.world
        event = world.created_event(self._new_record(scene), Name="new")
        event["payload"]["databaseId"] = str(scene.database_id)
        self.awaited[f"evt:{world.workspace_id}:{event['id']}"] = scene.runs
        for _ in range(1 + (self.draw.random() < SHARE_TWICE)):
            self.services.put(event)

    def _record(self, scene: Scene) -> None:
        world = self.soak.world
        written = world.in_transaction(
            lambda c: write_records.create(c, world.owner, scene.database_id, {"Name": "new"})
        )
        self.awaited[written.events[0].event_id] = scene.runs
        if self._sends():
            publish(world.context, written.events)

    def _webhook(self, scene: Scene) -> None:
        assert scene.secret is not None
        name = f"call-{len(self.awaited)}"
        headers = {"content-type": "application/json", "webhook-id": name}
        for _ in range(1 + (self.draw.random() < SHARE_TWICE)):
            delivery = receive_webhook.Delivery(headers, b'{"hello": "engine"}')
            event_id = receive_webhook.receive(
                self.soak.world.context, scene.secret.token, delivery
            )
            self.awaited[event_id] = scene.runs

    def _manual_run(self, scene: Scene) -> None:
        world, automation_id = self.soak.world, scene.manual
        assert automation_id is not None
        payload = {"recordId": str(self._new_record(scene))}
        run = world.in_transaction(
            lambda c: start_manual_run.start(
                c, world.owner, automation_id, payload, sanitized=False
            )
        )
        self.manual.add(run.run_id)
        if self._sends():
            start_manual_run.announce(world.context, run)

    def _new_record(self, scene: Scene) -> UUID:
        """Add a record as a host keeps them: without an event of ours."""
        world = self.soak.world
        record_id = world.add_record(Name="new")
        world.sql(
            "update records set database_id = :d where id = :r", d=scene.database_id, r=record_id
        )
        return record_id

    def _retry(self) -> None:
        run_id = self._some_run("FAILED", "DEAD_LETTER")
        if run_id is None:
            return
        world = self.soak.world
        try:
            run = world.retry(run_id, from_=self.draw.choice(["failed", "start"]))
        except ConflictError:
            return
        self.retried += 1
        if self._sends():
            start_manual_run.announce(world.context, run)

    def _cancel(self) -> None:
        run_id = self._some_run("PENDING", "RUNNING")
        if run_id is None:
            return
        try:
            cancelled = self.soak.world.cancel(run_id)
        except ConflictError:
            return
        self.cancelled += 1
        if self._sends():
            publish(self.soak.world.context, cancelled.events)

    def _some_run(self, *statuses: str) -> UUID | None:
        rows = self.soak.world.sql(
            "select id, automation_id from automation_runs where status = any(:s)"
            " and workspace_id = :w order by id desc limit 200",
            s=list(statuses),
            w=self.soak.world.workspace_id,
        )
        # A poison that is retried by hand only dies once more, eight processes later.
        known = [row["id"] for row in rows if not self.soak.kinds[row["automation_id"]].is_poison]
        return self.draw.choice(known) if known else None

    def _sends(self) -> bool:
        return self.draw.random() >= SHARE_UNSENT
