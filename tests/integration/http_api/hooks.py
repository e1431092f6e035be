"""A sender of webhooks, and what becomes of what it sends."""

import base64
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from standardwebhooks import Webhook

from tests.integration.engine_world import arrival
from tests.integration.http_api.client import WEBHOOK_TRIGGER, Answer, Api, gateway_event, send
from whenthen.engine.execute_runs import execute_runs
from whenthen.engine.match_events import match_events


@dataclass(frozen=True)
class Hook:
    """An automation with a webhook, as its sender knows it."""

    api: Api
    automation_id: str
    url: str
    secret: str

    @property
    def path(self) -> str:
        return "/" + self.url.split("/", 3)[3]

    @property
    def token(self) -> str:
        return self.url.rsplit("/", 1)[1]

    def post(
        self,
        body: bytes | str = "{}",
        content_type: str | None = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Bytes travel as base64, a text as it is, as the gateway does by the content type."""
        return post(self.path, body, content_type, headers)

    def signed(
        self, body: bytes, *, message: str = "msg_1", late_s: int = 0, secret: str | None = None
    ) -> dict[str, str]:
        moment = datetime.fromtimestamp(int(time.time()) - late_s, UTC)
        signer = Webhook(secret or self.secret)
        return {
            "webhook-id": message,
            "webhook-timestamp": str(int(moment.timestamp())),
            "webhook-signature": signer.sign(message, moment, body.decode()),
        }

    def runs(self) -> list[Any]:
        """The automation's runs, oldest first, after the outbox has been matched."""
        match_outbox(self.api)
        return self.api.sql(
            "select * from automation_runs where automation_id = :a order by created_at, id",
            a=self.automation_id,
        )


def post(
    path: str,
    body: bytes | str,
    content_type: str | None = "application/json",
    headers: Mapping[str, str] | None = None,
) -> Answer:
    event = gateway_event("POST", path, body, {}, headers or {})
    if content_type is None:
        del event["headers"]["content-type"]
    else:
        event["headers"]["content-type"] = content_type
    return send(event)


def make_hook(api: Api, *, active: bool = True, **config: Any) -> Hook:
    made = api.mine.create_automation(triggers=[{**WEBHOOK_TRIGGER, "config": config}])
    if active:
        activate(api, made["id"])
    if "secret" in config:
        key = base64.b64decode(config["secret"].removeprefix("whsec_"))
        token = base64.urlsafe_b64encode(key).rstrip(b"=").decode()
        url = f"https://api.example.test/webhooks/incoming/{token}"
        return Hook(api, made["id"], url, config["secret"])
    return Hook(api, made["id"], made["webhook"]["url"], made["webhook"]["secret"])


def activate(api: Api, automation_id: str, status: str = "ACTIVE") -> None:
    answer = api.mine.editor.post(f"/automations/{automation_id}/status", {"status": status})
    assert answer.status == 200, answer.text


def match_outbox(api: Api) -> None:
    """Match every event that waits, as a relay after a lost put would."""
    events = [
        {
            "id": row["event_id"],
            "type": row["type"],
            "workspaceId": str(row["workspace_id"]),
            "occurredAt": row["occurred_at"].isoformat(),
            "payload": row["payload"],
            "automationContext": row["automation_context"],
            "outboxId": str(row["id"]),
        }
        for row in api.sql("select * from outbox order by occurred_at, id")
    ]
    match_events(api.context, [arrival(event) for event in events], [])


def execute(api: Api) -> None:
    rows = api.sql("select id from automation_runs where status = 'PENDING'")
    execute_runs(api.context, [row["id"] for row in rows], lambda: 180)
