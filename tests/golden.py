"""The golden events of events/, told as one story: each is sent to its function, and what came of
it is looked at.

The story does not know how functions are invoked: by a call, or as the artifacts that ship.
"""

import base64
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from sqlalchemy import text

from devstack.seed import Tenant
from whenthen.store.connection import Database
from whenthen.store.migrate import migration_names

EVENTS = Path(__file__).parents[1] / "events"
# Not an event: the environment of `sam local invoke`.
ENVIRONMENT = "env.json"
ID = "019a2b3c-0000-7000-8000-00000000000{}"
ANSWER_URL = "https://cloudformation-custom-resource-response-example.s3.eu-west-1.amazonaws.com"

Invoke = Callable[[str, Any], Any]


@dataclass
class Scene:
    """Where the story plays: a database with a tenant in it, and a way to the functions."""

    database: Database
    tenant: Tenant
    invoke: Invoke
    door: "AnswerDoor"
    run_id: str = ""

    def sql(self, statement: str, **values: Any) -> list[Any]:
        def work(connection: Any) -> list[Any]:
            result = connection.execute(text(statement), values)
            return list(result.mappings()) if result.returns_rows else []

        return self.database.transact(work)

    def event(self, name: str) -> Any:
        """The event of a file, with the ids, the token and the URL that are real here."""
        event = json.loads(self._real((EVENTS / name).read_text("utf-8")))
        for record in event.get("Records", []):
            if "kinesis" in record:
                data = base64.b64decode(record["kinesis"]["data"]).decode()
                record["kinesis"]["data"] = base64.b64encode(self._real(data).encode()).decode()
        return event

    def _real(self, told: str) -> str:
        for placeholder, real in {
            ID.format(1): self.tenant.workspace_id,
            ID.format(2): self.tenant.database_id,
            ID.format(4): self.run_id,
            "wt_replace-with-the-token-that-whenthen-dev-prints": self.tenant.token,
            ANSWER_URL: self.door.url,
        }.items():
            told = told.replace(placeholder, real)
        return told

    def tell(self) -> None:
        """Play every chapter, in order."""
        for name, function, check in STORY:
            check(self, self.invoke(function, self.event(name)))


@dataclass
class AnswerDoor:
    """Stands for the pre-signed URL: keeps what was PUT there, with its content type."""

    url: str
    answers: list[tuple[str | None, Any]] = field(default_factory=list)


@contextmanager
def answer_door(refusals: int = 0) -> Iterator[AnswerDoor]:
    """Open a door that answers 503 to the first `refusals` requests."""
    left = refusals

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            nonlocal left
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if left:
                left -= 1
                self.send_response(503)
            else:
                door.answers.append((self.headers["Content-Type"], json.loads(body)))
                self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    door = AnswerDoor(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield door
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def is_migrated(_scene: Scene, answer: Any) -> None:
    assert answer == {"applied": [], "version": migration_names()[-1]}


def is_refused(_scene: Scene, answer: Any) -> None:
    # The scene has its workspaces already.
    assert answer["error"]["code"] == "WORKSPACE_EXISTS"


def is_answered_to_cloudformation(scene: Scene, answer: Any) -> None:
    ((content_type, told),) = scene.door.answers
    assert content_type == ""
    assert told == answer
    assert (told["Status"], told["PhysicalResourceId"]) == ("SUCCESS", "schema")


def is_created(scene: Scene, answer: Any) -> None:
    assert answer["statusCode"] == 201, answer
    made = json.loads(answer["body"])
    assert made["name"] == "Triage new tickets"
    # The golden events are of a day in 2026.
    scene.sql("update automations set status = 'ACTIVE', active_since = '2020-01-01'")
    scene.sql(
        "insert into records (id, workspace_id, database_id, properties) values (cast(:r as uuid),"
        """ cast(:w as uuid), cast(:d as uuid), '{"Name": "Printer on fire", "Status": "B"}')""",
        r=ID.format(3),
        w=scene.tenant.workspace_id,
        d=scene.tenant.database_id,
    )


def is_shown(_scene: Scene, answer: Any) -> None:
    assert answer["statusCode"] == 200, answer
    assert re.search(r'src="/console/[0-9a-f]{16}/app\.js"', answer["body"])


def is_matched(scene: Scene, answer: Any) -> None:
    assert answer == {"batchItemFailures": []}
    (run,) = scene.sql("select id, status from automation_runs")
    assert run["status"] == "PENDING"
    scene.run_id = str(run["id"])


def is_executed(scene: Scene, answer: Any) -> None:
    assert answer == {"batchItemFailures": []}
    (run,) = scene.sql("select status, error from automation_runs")
    assert run["status"] == "SUCCEEDED", run["error"]
    (record,) = scene.sql("select properties from records")
    assert record["properties"]["Status"] == "C"


def is_ticked(_scene: Scene, answer: Any) -> None:
    assert {"fired", "missed"} <= set(answer)


def is_watched(_scene: Scene, answer: Any) -> None:
    assert answer["voided"] == 0
    assert set(answer) == {"voided", "swept", "relayed", "forgotten"}


def is_watched_and_made_dead(scene: Scene, answer: Any) -> None:
    """What the watchdog said; then the run is told to have died, for the next chapter."""
    is_watched(scene, answer)
    scene.sql("update automation_runs set status = 'DEAD_LETTER', deaths = 1")
    scene.sql(
        "insert into automation_logs (run_id, level, message, data) select id,'error',"
        ' \'run dead-lettered\', \'{"death": 1, "code": "INTERNAL", "message": "told",'
        ' "attempts": 1}\' from automation_runs'
    )


def is_told(scene: Scene, answer: Any) -> None:
    assert answer == {"batchItemFailures": []}
    titles = [row["title"] for row in scene.sql("select title from notifications")]
    assert 'Automation "Triage new tickets" dead-lettered' in titles


# (file, function, what came of it)
STORY: tuple[tuple[str, str, Callable[[Scene, Any], None]], ...] = (
    ("migrate.json", "DbMigratorFunction", is_migrated),
    ("bootstrap.json", "DbMigratorFunction", is_refused),
    ("cloudformation_create.json", "DbMigratorFunction", is_answered_to_cloudformation),
    ("http_create_automation.json", "HttpApiFunction", is_created),
    ("http_console.json", "HttpApiFunction", is_shown),
    ("stream_record_created.json", "StreamMatcherFunction", is_matched),
    ("queue_run.json", "RunExecutorFunction", is_executed),
    ("schedule_tick.json", "ScheduleReconcilerFunction", is_ticked),
    ("schedule_tick_now.json", "ScheduleReconcilerFunction", is_ticked),
    ("watchdog_tick.json", "RunWatchdogFunction", is_watched),
    ("watchdog_workers_gone.json", "RunWatchdogFunction", is_watched_and_made_dead),
    ("notice_death.json", "DlqNotifierFunction", is_told),
)
