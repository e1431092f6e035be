"""The nine actions and their configs."""

from decimal import Decimal
from typing import Any

import pytest

from whenthen.domain.errors import FatalError, InvalidError
from whenthen.domain.kinds import ActionType
from whenthen.domain.schemas.actions import (
    ACTION_CONFIGS,
    RESERVED_HEADERS,
    Action,
    stored_config,
)
from whenthen.domain.schemas.problems import read

ID = "019a0000-0000-7000-8000-000000000001"
TEMPLATE = "{{ trigger.x }}"
URL = "https://example.org/hook"

MINIMAL: dict[str, dict[str, Any]] = {
    "CREATE_RECORD": {"databaseId": ID, "propertyValues": {}},
    "UPDATE_RECORD": {"recordId": "from_trigger", "propertyValues": {}},
    "DELETE_RECORD": {"recordId": "from_trigger"},
    "CREATE_PAGE": {"title": "x"},
    "CREATE_NOTIFICATION": {"title": "x"},
    "SEND_EMAIL": {"to": ["a@example.org"], "subject": "x", "text": "x"},
    "SEND_WEBHOOK": {"url": URL},
    "AI_GENERATE": {"prompt": "x"},
    "DELAY": {"seconds": 1},
}


def _config(type_: str, **changes: Any) -> dict[str, Any]:
    return {key: value for key, value in (MINIMAL[type_] | changes).items() if value is not ...}


def _action(type_: Any, config: Any, **rest: Any) -> Action:
    return read(Action, {"type": type_, "config": config, **rest})


def _paths(type_: Any, config: Any, **rest: Any) -> list[str]:
    with pytest.raises(InvalidError) as caught:
        _action(type_, config, **rest)
    assert caught.value.code == "VALIDATION_FAILED"
    assert caught.value.details is not None
    return [one["path"] for one in caught.value.details]  # type: ignore[index]


def test_every_type_has_a_config() -> None:
    assert ACTION_CONFIGS.keys() == set(ActionType) == set(MINIMAL)


@pytest.mark.parametrize(
    ("type_", "changes"),
    [
        *[(type_, {}) for type_ in MINIMAL],
        ("CREATE_RECORD", {"databaseId": TEMPLATE}),
        (
            "CREATE_RECORD",
            {"propertyValues": {"a": None, "First Name": [1], "x" * 100: {"k": Decimal("1.10")}}},
        ),
        ("UPDATE_RECORD", {"recordId": ID}),
        ("UPDATE_RECORD", {"recordId": TEMPLATE}),
        ("DELETE_RECORD", {"recordId": ID}),
        ("CREATE_PAGE", {"parentId": ID, "content": ""}),
        ("CREATE_PAGE", {"parentId": TEMPLATE}),
        ("CREATE_NOTIFICATION", {"body": "", "audience": "actor"}),
        ("CREATE_NOTIFICATION", {"userIds": [ID, TEMPLATE] * 50}),
        ("SEND_EMAIL", {"to": ["a@example.org", TEMPLATE] * 25}),
        ("SEND_EMAIL", {"text": ..., "html": "<p>", "replyTo": TEMPLATE}),
        ("SEND_EMAIL", {"html": "<p>"}),
        ("SEND_EMAIL", {"to": ["ada@exämple.com"], "replyTo": "a@b"}),
        ("SEND_WEBHOOK", {"url": "HTTP://127.0.0.1:8080/x?y={{ trigger.y }}"}),
        ("SEND_WEBHOOK", {"url": TEMPLATE}),
        ("SEND_WEBHOOK", {"url": "https://" + "x" * 2040}),
        *[("SEND_WEBHOOK", {"method": m}) for m in ("GET", "POST", "PUT", "PATCH", "DELETE")],
        ("SEND_WEBHOOK", {"headers": {f"X-{n}": TEMPLATE for n in range(50)}}),
        ("SEND_WEBHOOK", {"headers": {"Authorization": "Bearer {{ secrets.KEY }}"}}),
        ("SEND_WEBHOOK", {"body": {"a": [TEMPLATE, 1]}, "signingSecret": "{{ secrets.KEY }}"}),
        ("SEND_WEBHOOK", {"body": "text"}),
        ("AI_GENERATE", {"system": "x", "modelId": "m", "maxTokens": 1, "temperature": 0}),
        ("AI_GENERATE", {"maxTokens": 100_000, "temperature": 1.0}),
        ("DELAY", {"seconds": 2_592_000}),
        ("DELAY", {"seconds": TEMPLATE}),
        ("DELAY", {"seconds": ..., "until": "2026-01-01T10:00:00Z"}),
        ("DELAY", {"seconds": ..., "until": TEMPLATE}),
    ],
)
def test_a_valid_config_is_kept_and_is_valid_again(type_: str, changes: dict[str, Any]) -> None:
    config = _config(type_, **changes)
    stored = _action(type_, config).config.to_json()
    assert stored.items() >= config.items()
    assert stored_config(ActionType(type_), stored) == stored


@pytest.mark.parametrize(
    ("type_", "changes", "paths"),
    [
        *[(type_, {"unknown": 1}, ["config.unknown"]) for type_ in MINIMAL],
        ("CREATE_RECORD", {"databaseId": ...}, ["config.databaseId"]),
        ("CREATE_RECORD", {"databaseId": "x"}, ["config.databaseId"]),
        ("CREATE_RECORD", {"databaseId": "from_trigger"}, ["config.databaseId"]),
        ("CREATE_RECORD", {"databaseId": 5}, ["config.databaseId"]),
        ("CREATE_RECORD", {"propertyValues": ...}, ["config.propertyValues"]),
        ("CREATE_RECORD", {"propertyValues": []}, ["config.propertyValues"]),
        ("CREATE_RECORD", {"propertyValues": {"": 1}}, ['config.propertyValues[""]']),
        (
            "CREATE_RECORD",
            {"propertyValues": {"x" * 101: 1}},
            ["config.propertyValues." + "x" * 100],
        ),
        ("UPDATE_RECORD", {"recordId": ...}, ["config.recordId"]),
        ("UPDATE_RECORD", {"recordId": "from_triggers"}, ["config.recordId"]),
        ("UPDATE_RECORD", {"recordId": "{ trigger.x }"}, ["config.recordId"]),
        ("DELETE_RECORD", {"recordId": ""}, ["config.recordId"]),
        ("DELETE_RECORD", {"propertyValues": {}}, ["config.propertyValues"]),
        ("CREATE_PAGE", {"title": ""}, ["config.title"]),
        ("CREATE_PAGE", {"title": ...}, ["config.title"]),
        ("CREATE_PAGE", {"parentId": "x"}, ["config.parentId"]),
        ("CREATE_PAGE", {"content": 5}, ["config.content"]),
        ("CREATE_NOTIFICATION", {"title": None}, ["config.title"]),
        ("CREATE_NOTIFICATION", {"audience": "owners"}, ["config.audience"]),
        ("CREATE_NOTIFICATION", {"userIds": []}, ["config.userIds"]),
        ("CREATE_NOTIFICATION", {"userIds": [ID] * 101}, ["config.userIds"]),
        ("CREATE_NOTIFICATION", {"userIds": [ID, "x"]}, ["config.userIds[1]"]),
        ("CREATE_NOTIFICATION", {"userIds": [ID], "audience": "admins"}, ["config"]),
        ("SEND_EMAIL", {"to": []}, ["config.to"]),
        ("SEND_EMAIL", {"to": ["a@example.org"] * 51}, ["config.to"]),
        ("SEND_EMAIL", {"to": "a@example.org"}, ["config.to"]),
        ("SEND_EMAIL", {"to": ["a@example.org", "nobody"]}, ["config.to[1]"]),
        ("SEND_EMAIL", {"to": ["ädä@example.org"]}, ["config.to[0]"]),
        ("SEND_EMAIL", {"to": ["Ada <a@example.org>"]}, ["config.to[0]"]),
        ("SEND_EMAIL", {"to": ["a@x.org, b@x.org"]}, ["config.to[0]"]),
        ("SEND_EMAIL", {"to": ["a@x.org\r\nBcc: b@x.org"]}, ["config.to[0]"]),
        ("SEND_EMAIL", {"to": ["a" * 320 + "@x.org"]}, ["config.to[0]"]),
        ("SEND_EMAIL", {"subject": ""}, ["config.subject"]),
        ("SEND_EMAIL", {"subject": "x\r\nBcc: b@x.org"}, ["config.subject"]),
        ("SEND_EMAIL", {"subject": "x\n"}, ["config.subject"]),
        ("SEND_EMAIL", {"text": ...}, ["config"]),
        ("SEND_EMAIL", {"text": None}, ["config"]),
        ("SEND_EMAIL", {"text": ""}, ["config.text"]),
        ("SEND_EMAIL", {"replyTo": "nobody"}, ["config.replyTo"]),
        ("SEND_WEBHOOK", {"url": ...}, ["config.url"]),
        ("SEND_WEBHOOK", {"url": "ftp://example.org"}, ["config.url"]),
        ("SEND_WEBHOOK", {"url": "example.org"}, ["config.url"]),
        ("SEND_WEBHOOK", {"url": "https://"}, ["config.url"]),
        ("SEND_WEBHOOK", {"url": "https:///path"}, ["config.url"]),
        ("SEND_WEBHOOK", {"url": "https://example.org/a b"}, ["config.url"]),
        ("SEND_WEBHOOK", {"url": "https://" + "x" * 2041}, ["config.url"]),
        ("SEND_WEBHOOK", {"method": "HEAD"}, ["config.method"]),
        ("SEND_WEBHOOK", {"method": "post"}, ["config.method"]),
        ("SEND_WEBHOOK", {"headers": {f"X-{n}": "" for n in range(51)}}, ["config.headers"]),
        ("SEND_WEBHOOK", {"headers": {"A b": "x"}}, ['config.headers["A b"]']),
        ("SEND_WEBHOOK", {"headers": {"{{x}}": "x"}}, ['config.headers["{{x}}"]']),
        ("SEND_WEBHOOK", {"headers": {"A:": "x"}}, ['config.headers["A:"]']),
        ("SEND_WEBHOOK", {"headers": {"": "x"}}, ['config.headers[""]']),
        ("SEND_WEBHOOK", {"headers": {"A": 5}}, ["config.headers.A"]),
        ("SEND_WEBHOOK", {"headers": {"A": "x\r\nB: y"}}, ["config.headers.A"]),
        ("SEND_WEBHOOK", {"headers": {"X-A": "1", "x-a": "2"}}, ["config.headers"]),
        ("SEND_WEBHOOK", {"headers": {"Whenthen-Context": "x"}}, ["config.headers"]),
        ("SEND_WEBHOOK", {"signingSecret": ""}, ["config.signingSecret"]),
        ("AI_GENERATE", {"prompt": ""}, ["config.prompt"]),
        ("AI_GENERATE", {"maxTokens": 0}, ["config.maxTokens"]),
        ("AI_GENERATE", {"maxTokens": 100_001}, ["config.maxTokens"]),
        ("AI_GENERATE", {"temperature": -0.1}, ["config.temperature"]),
        ("AI_GENERATE", {"temperature": 1.1}, ["config.temperature"]),
        ("AI_GENERATE", {"temperature": Decimal("1.10")}, ["config.temperature"]),
        ("AI_GENERATE", {"temperature": "0.5"}, ["config.temperature"]),
        ("DELAY", {"seconds": ...}, ["config"]),
        ("DELAY", {"until": "2026-01-01"}, ["config"]),
        ("DELAY", {"seconds": 0}, ["config.seconds"]),
        ("DELAY", {"seconds": 2_592_001}, ["config.seconds"]),
        ("DELAY", {"seconds": "60"}, ["config.seconds"]),
        ("DELAY", {"seconds": True}, ["config.seconds"]),
        ("DELAY", {"seconds": Decimal("1.5")}, ["config.seconds"]),
        ("DELAY", {"seconds": TEMPLATE, "until": TEMPLATE}, ["config"]),
        ("DELAY", {"seconds": ..., "until": "tomorrow"}, ["config.until"]),
        ("DELAY", {"seconds": ..., "until": 5}, ["config.until"]),
    ],
)
def test_an_invalid_config_is_refused_with_its_path_and_fatal_when_stored(
    type_: str, changes: dict[str, Any], paths: list[str]
) -> None:
    config = _config(type_, **changes)
    assert _paths(type_, config) == paths
    with pytest.raises(FatalError) as caught:
        stored_config(ActionType(type_), config)
    assert caught.value.code == "ACTION_CONFIG_INVALID"
    assert caught.value.message.startswith(paths[0].removeprefix("config.") + ": ")


@pytest.mark.parametrize("name", sorted(RESERVED_HEADERS))
def test_a_reserved_header_may_not_be_set_in_any_case(name: str) -> None:
    for spelled in (name, name.title(), name.upper()):
        config = _config("SEND_WEBHOOK", headers={spelled: "x"})
        assert _paths("SEND_WEBHOOK", config) == ["config.headers"]


def test_a_temperature_with_a_trailing_zero_is_a_number_too() -> None:
    config = _config("AI_GENERATE", temperature=Decimal("0.70"))
    assert stored_config(ActionType.AI_GENERATE, config)["temperature"] == 0.7


def test_defaults_are_written_out() -> None:
    assert stored_config(ActionType.AI_GENERATE, {"prompt": "x"}) == {
        "prompt": "x",
        "maxTokens": 1024,
    }
    assert stored_config(ActionType.SEND_WEBHOOK, {"url": URL}) == {
        "url": URL,
        "method": "POST",
        "headers": {},
    }


@pytest.mark.parametrize(
    "rest",
    [
        {},
        {"id": ID},
        {"id": None, "retries": None, "timeoutMs": None},
        {"retries": 0, "timeoutMs": 1_000},
        {"retries": 20, "timeoutMs": 120_000},
    ],
)
def test_an_action_may_have_an_id_retries_and_a_timeout(rest: dict[str, Any]) -> None:
    action = _action("DELAY", {"seconds": 1}, **rest)
    assert (str(action.id) if action.id else None) == rest.get("id")
    assert action.retries == rest.get("retries")
    assert action.timeout_ms == rest.get("timeoutMs")


@pytest.mark.parametrize(
    ("rest", "path"),
    [
        ({"id": "x"}, "id"),
        ({"retries": -1}, "retries"),
        ({"retries": 21}, "retries"),
        ({"retries": True}, "retries"),
        ({"retries": 1.0}, "retries"),
        ({"timeoutMs": 999}, "timeoutMs"),
        ({"timeoutMs": 120_001}, "timeoutMs"),
        ({"timeout_ms": 1_000}, "timeout_ms"),
        ({"index": 0}, "index"),
    ],
)
def test_anything_beyond_its_limits_is_refused(rest: dict[str, Any], path: str) -> None:
    assert _paths("DELAY", {"seconds": 1}, **rest) == [path]


@pytest.mark.parametrize("type_", ["DELETE_DATABASE", "delay", None, 5, {}])
def test_an_unknown_type_is_refused(type_: Any) -> None:
    assert _paths(type_, {}) == ["type"]
