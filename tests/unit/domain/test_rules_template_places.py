"""Where a template must have a value, and where a secret may stand."""

import pytest

from whenthen.domain.kinds import ActionType
from whenthen.domain.rules.data_path import path_text
from whenthen.domain.rules.template_places import is_html, may_hold_secret, needs_value

NEEDED = {
    ActionType.CREATE_RECORD: ["databaseId"],
    ActionType.UPDATE_RECORD: ["recordId"],
    ActionType.DELETE_RECORD: ["recordId"],
    ActionType.CREATE_PAGE: ["parentId"],
    ActionType.CREATE_NOTIFICATION: ["userIds[0]", "userIds[99]"],
    ActionType.SEND_EMAIL: ["to[0]", "to[49]", "replyTo"],
    ActionType.SEND_WEBHOOK: ["url"],
    ActionType.AI_GENERATE: ["modelId"],
    ActionType.DELAY: ["until", "seconds"],
}
# Neighbours of those, and every other place of the nine configs.
OTHERS = [
    "",
    "databaseIds",
    "xrecordId",
    "recordId\n",
    "recordId.x",
    "propertyValues.recordId",
    "propertyValues.Name",
    "propertyValues.Tags[0]",
    "title",
    "content",
    "body",
    "body.url",
    "userIds",
    "userIds[]",
    "userIds[a]",
    "userIds[0].x",
    "audience",
    "to",
    "to[-1]",
    "subject",
    "text",
    "html",
    "method",
    "headers.url",
    "signingSecret",
    "prompt",
    "system",
]
PLACES = sorted({*OTHERS, *(place for places in NEEDED.values() for place in places)})


@pytest.mark.parametrize("action_type", ActionType)
def test_ids_addresses_recipients_and_times_need_a_value_and_nothing_else_does(
    action_type: ActionType,
) -> None:
    assert [place for place in PLACES if needs_value(action_type, place)] == sorted(
        NEEDED[action_type]
    )


SECRET_PLACES = [
    "headers",
    "headers.Authorization",
    path_text(["headers", "X-Api-Key"]),
    "body",
    "body.token",
    "body[0].token",
    path_text(["body", "a key of\ntwo lines"]),
    "signingSecret",
]
# The URL is among them: addresses end up in access logs and error messages.
OPEN_PLACES = [
    "",
    "url",
    "method",
    "header",
    "headersX",
    "xheaders",
    "bodyguard",
    "a.body",
    "signingSecret.x",
    "signingSecret[0]",
    "signingSecret\n",
]


@pytest.mark.parametrize("place", SECRET_PLACES)
def test_a_webhook_may_hold_secrets_in_headers_body_and_key(place: str) -> None:
    assert may_hold_secret(ActionType.SEND_WEBHOOK, place)


@pytest.mark.parametrize("place", OPEN_PLACES)
def test_a_webhook_may_hold_secrets_nowhere_else(place: str) -> None:
    assert not may_hold_secret(ActionType.SEND_WEBHOOK, place)


@pytest.mark.parametrize("action_type", [t for t in ActionType if t != ActionType.SEND_WEBHOOK])
def test_no_other_action_may_hold_a_secret(action_type: ActionType) -> None:
    places = [*SECRET_PLACES, *OPEN_PLACES]
    assert [place for place in places if may_hold_secret(action_type, place)] == []


@pytest.mark.parametrize("action_type", ActionType)
def test_only_the_html_of_a_mail_is_html(action_type: ActionType) -> None:
    places = ["html", "text", "subject", "html.x", "body", "content", "prompt"]
    expected = ["html"] if action_type == ActionType.SEND_EMAIL else []
    assert [place for place in places if is_html(action_type, place)] == expected
