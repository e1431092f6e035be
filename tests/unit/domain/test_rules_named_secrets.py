"""Which secrets a config names, and which of its texts people are told."""

from typing import Any

import pytest

from whenthen.domain.kinds import ActionType
from whenthen.domain.rules.named_secrets import named_secrets, redact_told, tells_people

TOLD = {ActionType.CREATE_NOTIFICATION, ActionType.SEND_EMAIL}


@pytest.mark.parametrize(
    ("config", "names"),
    [
        ({}, set()),
        ({"headers": {"x": "{{secrets.A}}"}}, {"A"}),
        ({"headers": {"x": "Bearer {{ secrets.A }}-{{secrets.B_2}}"}}, {"A", "B_2"}),
        ({"body": "{{secrets.A}}"}, {"A"}),
        ({"body": {"a": [{"b": "x{{secrets.A}}"}, 1, None]}}, {"A"}),
        ({"signingSecret": '{{secrets["A"]}}'}, {"A"}),
        ({"signingSecret": "{{secrets.A}}", "body": "{{secrets.A}}"}, {"A"}),
        # Where none may stand, none is.
        ({"url": "https://x.test/{{secrets.A}}"}, set()),
        # What cannot be read fails when it is filled in.
        ({"body": "{{secrets.A"}, set()),
        ({"body": "{{secrets.A.b}}"}, {"A"}),
        ({"body": "secrets.A {{trigger.secrets.A}}"}, set()),
        # A key is no template.
        ({"body": {"{{secrets.A}}": 1}}, set()),
    ],
    ids=lambda value: str(sorted(value) if isinstance(value, set) else value),
)
def test_secrets_are_named_in_headers_body_and_key(config: Any, names: set[str]) -> None:
    assert named_secrets(ActionType.SEND_WEBHOOK, config) == names


@pytest.mark.parametrize("action_type", sorted(set(ActionType) - {ActionType.SEND_WEBHOOK}))
def test_no_other_action_names_any(action_type: ActionType) -> None:
    config = {"headers": {"x": "{{secrets.A}}"}, "body": "{{secrets.A}}", "title": "{{secrets.A}}"}
    assert named_secrets(action_type, config) == frozenset()


@pytest.mark.parametrize("action_type", ActionType)
def test_notifications_and_mails_tell_people(action_type: ActionType) -> None:
    assert tells_people(action_type) == (action_type in TOLD)


def test_only_what_people_are_told_is_redacted() -> None:
    secret = "01900000-0000"
    mail = {"to": [f"{secret}@x.test"], "subject": secret, "text": f"a {secret}", "html": None}
    assert redact_told(ActionType.SEND_EMAIL, mail, [secret]) == {
        "to": [f"{secret}@x.test"],
        "subject": "•••",
        "text": "a •••",
        "html": None,
    }
    note = {"title": secret, "body": {"a": secret}, "userIds": [secret]}
    assert redact_told(ActionType.CREATE_NOTIFICATION, note, [secret]) == {
        "title": "•••",
        "body": {"a": "•••"},
        "userIds": [secret],
    }
    record = {"databaseId": secret, "propertyValues": {"Name": secret}}
    assert redact_told(ActionType.CREATE_RECORD, record, [secret]) == record
