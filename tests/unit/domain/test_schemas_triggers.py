"""The seven triggers and their configs."""

from base64 import b64encode
from typing import Any
from uuid import UUID

import pytest

from whenthen.domain.errors import InvalidError
from whenthen.domain.kinds import TriggerType
from whenthen.domain.schemas.problems import read
from whenthen.domain.schemas.triggers import (
    TRIGGER_CONFIGS,
    PageCreatedConfig,
    PropertyChangedConfig,
    RecordConfig,
    Trigger,
    WebhookConfig,
    webhook_key,
)

ID = "019a0000-0000-7000-8000-000000000001"
SCHEDULE_DEFAULTS = {
    "timeZone": "UTC",
    "catchUp": "none",
    "catchUpWindow": 3600,
    "overlap": "allow",
}


def _trigger(type_: str, config: Any) -> Trigger:
    return read(Trigger, {"type": type_, "config": config})


def _paths(type_: Any, config: Any) -> list[str]:
    with pytest.raises(InvalidError) as caught:
        _trigger(type_, config)
    assert caught.value.code == "VALIDATION_FAILED"
    assert caught.value.details is not None
    return [one["path"] for one in caught.value.details]  # type: ignore[index]


def test_every_type_has_a_config() -> None:
    assert TRIGGER_CONFIGS.keys() == set(TriggerType)


@pytest.mark.parametrize(
    ("type_", "config", "stored"),
    [
        ("RECORD_CREATED", {"databaseId": ID}, {"databaseId": ID}),
        ("RECORD_CREATED", {"databaseId": ID.upper()}, {"databaseId": ID}),
        ("RECORD_CREATED", {}, {}),
        ("RECORD_UPDATED", {"databaseId": None}, {}),
        ("FORM_SUBMITTED", {"databaseId": ID}, {"databaseId": ID}),
        ("PROPERTY_CHANGED", {"properties": ["*"]}, {"properties": ["*"]}),
        (
            "PROPERTY_CHANGED",
            {"databaseId": ID, "properties": ["x" * 100] * 50},
            {"databaseId": ID, "properties": ["x" * 100] * 50},
        ),
        ("PAGE_CREATED", {"pageId": ID}, {"pageId": ID}),
        ("PAGE_CREATED", {}, {}),
        ("SCHEDULE", {"cron": "* * * * *"}, {"cron": "* * * * *", **SCHEDULE_DEFAULTS}),
        # What a cron expression or a zone says, and how long it is, is judged elsewhere.
        ("SCHEDULE", {"cron": "x" * 501}, {"cron": "x" * 501, **SCHEDULE_DEFAULTS}),
        ("SCHEDULE", {"cron": "", "timeZone": None}, {"cron": "", **SCHEDULE_DEFAULTS}),
        ("SCHEDULE", {"runEvery": 60}, {"runEvery": 60, **SCHEDULE_DEFAULTS}),
        (
            "SCHEDULE",
            {
                "cron": "0 9 * * *",
                "timeZone": "Europe/Berlin",
                "catchUp": "all",
                "catchUpWindow": 604_800,
                "overlap": "skip",
            },
            {
                "cron": "0 9 * * *",
                "timeZone": "Europe/Berlin",
                "catchUp": "all",
                "catchUpWindow": 604_800,
                "overlap": "skip",
            },
        ),
        ("WEBHOOK", {}, {"requireSignature": False}),
        ("WEBHOOK", {"requireSignature": True}, {"requireSignature": True}),
    ],
)
def test_a_valid_config_is_stored_with_its_defaults(
    type_: str, config: dict[str, Any], stored: dict[str, Any]
) -> None:
    trigger = _trigger(type_, config)
    assert trigger.to_json() == {"type": type_, "config": stored}
    assert read(Trigger, trigger.to_json()) == trigger


@pytest.mark.parametrize(
    ("type_", "config", "paths"),
    [
        ("RECORD_CREATED", {"databaseId": "x"}, ["config.databaseId"]),
        ("RECORD_CREATED", {"databaseId": 5}, ["config.databaseId"]),
        ("RECORD_CREATED", {"databaseId": "{{ trigger.databaseId }}"}, ["config.databaseId"]),
        ("RECORD_CREATED", {"database_id": ID}, ["config.database_id"]),
        ("RECORD_CREATED", {"properties": ["Name"]}, ["config.properties"]),
        ("RECORD_CREATED", None, ["config"]),
        ("RECORD_CREATED", [], ["config"]),
        ("RECORD_UPDATED", {"pageId": ID}, ["config.pageId"]),
        ("FORM_SUBMITTED", {"x": 1, "y": 2}, ["config.x", "config.y"]),
        ("PROPERTY_CHANGED", {}, ["config.properties"]),
        ("PROPERTY_CHANGED", {"properties": []}, ["config.properties"]),
        ("PROPERTY_CHANGED", {"properties": ["x"] * 51}, ["config.properties"]),
        ("PROPERTY_CHANGED", {"properties": "Name"}, ["config.properties"]),
        ("PROPERTY_CHANGED", {"properties": ["a", ""]}, ["config.properties[1]"]),
        ("PROPERTY_CHANGED", {"properties": ["x" * 101]}, ["config.properties[0]"]),
        ("PROPERTY_CHANGED", {"properties": [1]}, ["config.properties[0]"]),
        ("PAGE_CREATED", {"pageId": "x"}, ["config.pageId"]),
        ("PAGE_CREATED", {"databaseId": ID}, ["config.databaseId"]),
        ("SCHEDULE", {}, ["config"]),
        ("SCHEDULE", {"cron": "* * * * *", "runEvery": 60}, ["config"]),
        ("SCHEDULE", {"cron": None, "runEvery": None}, ["config"]),
        ("SCHEDULE", {"cron": 5}, ["config.cron"]),
        ("SCHEDULE", {"runEvery": 59}, ["config.runEvery"]),
        ("SCHEDULE", {"runEvery": 366 * 24 * 3600 + 1}, ["config.runEvery"]),
        ("SCHEDULE", {"runEvery": 60.0}, ["config.runEvery"]),
        ("SCHEDULE", {"runEvery": "60"}, ["config.runEvery"]),
        ("SCHEDULE", {"runEvery": True}, ["config.runEvery"]),
        ("SCHEDULE", {"cron": "x", "timeZone": 0}, ["config.timeZone"]),
        ("SCHEDULE", {"cron": "x", "catchUp": "first"}, ["config.catchUp"]),
        ("SCHEDULE", {"cron": "x", "catchUpWindow": 59}, ["config.catchUpWindow"]),
        ("SCHEDULE", {"cron": "x", "catchUpWindow": 604_801}, ["config.catchUpWindow"]),
        ("SCHEDULE", {"cron": "x", "overlap": "queue"}, ["config.overlap"]),
        ("WEBHOOK", {"requireSignature": 1}, ["config.requireSignature"]),
        ("WEBHOOK", {"url": "x"}, ["config.url"]),
        ("record.created", {}, ["type"]),
        ("MANUAL", {}, ["type"]),
        (None, {}, ["type"]),
        (["WEBHOOK"], {}, ["type"]),
    ],
)
def test_an_invalid_config_is_refused_with_its_path(
    type_: Any, config: Any, paths: list[str]
) -> None:
    assert _paths(type_, config) == paths


@pytest.mark.parametrize("key", ["id", "Type", "WEBHOOK"])
def test_a_trigger_has_a_type_and_a_config_only(key: str) -> None:
    with pytest.raises(InvalidError, match=f"^{key}: is not a known key"):
        read(Trigger, {"type": "WEBHOOK", "config": {}, key: "x"})


def test_ids_are_uuids_in_python() -> None:
    assert RecordConfig(database_id=UUID(ID)).database_id == UUID(ID)
    assert PageCreatedConfig(page_id=UUID(ID)).to_json() == {"pageId": ID}
    assert PropertyChangedConfig(properties=["*"]).database_id is None


@pytest.mark.parametrize(
    "secret",
    [
        "x" * 24,
        "x" * 64,
        "ä" * 12,
        "whsec_" + b64encode(bytes(24)).decode(),
        "whsec_" + b64encode(bytes(64)).decode(),
    ],
)
def test_a_secret_of_24_to_64_bytes_is_taken_and_never_shown(secret: str) -> None:
    trigger = _trigger("WEBHOOK", {"secret": secret})
    assert isinstance(trigger.config, WebhookConfig)
    assert trigger.config.secret == secret
    assert trigger.to_json() == {"type": "WEBHOOK", "config": {"requireSignature": False}}
    assert secret not in repr(trigger)


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "x" * 23,
        "x" * 65,
        "ä" * 33,
        "whsec_" + b64encode(bytes(23)).decode(),
        "whsec_" + b64encode(bytes(65)).decode(),
        "whsec_" + "!" * 32,
        "whsec_" + "A" * 33,
        "whsec_" + "ä" * 32,
    ],
)
def test_any_other_secret_is_refused_without_being_repeated(secret: str) -> None:
    with pytest.raises(InvalidError, match="must be 24 to 64 bytes") as caught:
        _trigger("WEBHOOK", {"secret": secret})
    assert not secret or secret not in str(caught.value.details)


def test_an_explicit_null_secret_is_none() -> None:
    trigger = _trigger("WEBHOOK", {"secret": None})
    assert isinstance(trigger.config, WebhookConfig)
    assert trigger.config.secret is None


@pytest.mark.parametrize(
    ("secret", "key"),
    [
        ("plain", b"plain"),
        ("ä", b"\xc3\xa4"),
        ("whsec_AQID", b"\x01\x02\x03"),
        ("whsec_", b""),
        ("whsec_AQI", None),
        ("whsec_ä", None),
        ("WHSEC_AQID", b"WHSEC_AQID"),
    ],
)
def test_a_secret_stands_for_its_base64_or_its_utf8(secret: str, key: bytes | None) -> None:
    assert webhook_key(secret) == key
