"""What an accepted webhook puts on the stream."""

from tests.integration.conftest import Aws
from tests.integration.http_api.client import Api
from tests.integration.http_api.hooks import make_hook


def test_the_event_is_on_the_stream_with_its_outbox_row(api: Api, aws: Aws) -> None:
    hook = make_hook(api)
    answer = hook.post('{"event": "order.paid"}')
    (event,) = aws.stream_records()
    (row,) = api.sql("select * from outbox")
    assert event["outboxId"] == str(row["id"])
    assert event["id"] == answer.json["eventId"] == row["event_id"]
    assert event["payload"] == {
        "automationId": hook.automation_id,
        "eventType": "order.paid",
        "body": {"event": "order.paid"},
    }


def test_a_repetition_puts_nothing_on_the_stream(api: Api, aws: Aws) -> None:
    hook = make_hook(api)
    for _ in range(3):
        assert hook.post(headers={"webhook-id": "d-1"}).status == 202
    assert len(aws.stream_records()) == 1
