"""The seven triggers: `{"type": …, "config": …}`, each type with its own config.

Of a schedule only the shape is judged here; what a cron expression means is a rule of its own.
"""

import binascii
from base64 import b64decode
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    SerializeAsAny,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from whenthen.domain import limits
from whenthen.domain.kinds import TriggerType
from whenthen.domain.schemas.base import WORD, Id, Model, Name

# Bytes of a webhook's secret, however it is written.
WEBHOOK_SECRET_MIN_BYTES: Final = 24
WEBHOOK_SECRET_MAX_BYTES: Final = 64


class RecordConfig(Model):
    """RECORD_CREATED, RECORD_UPDATED, FORM_SUBMITTED; the automation's own database comes first."""

    database_id: Id | None = None


class PropertyChangedConfig(RecordConfig):
    """PROPERTY_CHANGED: one of `properties` must be among the changed ones; `*` is any."""

    properties: Annotated[list[Name], Field(min_length=1, max_length=limits.TRIGGER_PROPERTIES_MAX)]


class PageCreatedConfig(Model):
    """PAGE_CREATED: below this page or this page itself; without one any page."""

    page_id: Id | None = None


def _utc_if_null(value: Any) -> Any:
    return "UTC" if value is None else value


class ScheduleClock(Model):
    """When a schedule fires: `cron` or `runEvery` (seconds); the zone is written out, if only UTC.

    How long the texts are is judged with what they say (rules/cron_grammar.py, time_zones.py).
    """

    cron: str | None = None
    run_every: (
        Annotated[int, Field(ge=limits.RUN_EVERY_MIN_S, le=limits.RUN_EVERY_MAX_S)] | None
    ) = None
    time_zone: Annotated[str, BeforeValidator(_utc_if_null)] = "UTC"

    @model_validator(mode="after")
    def _one_clock(self) -> Self:
        if (self.cron is None) == (self.run_every is None):
            raise PydanticCustomError("schedule", "must have either cron or runEvery")
        return self


class ScheduleConfig(ScheduleClock):
    """SCHEDULE: its clock, and what becomes of missed and overlapping instants."""

    catch_up: Literal["none", "last", "all"] = "none"
    catch_up_window: Annotated[
        int, Field(ge=limits.CATCH_UP_WINDOW_MIN_S, le=limits.CATCH_UP_WINDOW_MAX_S)
    ] = limits.CATCH_UP_WINDOW_DEFAULT_S
    overlap: Literal["allow", "skip"] = "allow"


class WebhookConfig(Model):
    """WEBHOOK: a given secret is used once to derive its hash, and shown nowhere again."""

    secret: str | None = Field(default=None, exclude=True, repr=False)
    require_signature: bool = False

    @field_validator("secret")
    @classmethod
    def _is_strong(cls, secret: str | None) -> str | None:
        if secret is None:
            return None
        key = webhook_key(secret)
        if key is None or not WEBHOOK_SECRET_MIN_BYTES <= len(key) <= WEBHOOK_SECRET_MAX_BYTES:
            raise PydanticCustomError(
                "webhook_secret",
                "must be {low} to {high} bytes, as text or as whsec_ with base64",
                {"low": WEBHOOK_SECRET_MIN_BYTES, "high": WEBHOOK_SECRET_MAX_BYTES},
            )
        return secret


def webhook_key(secret: str) -> bytes | None:
    """Return the bytes that a webhook's secret stands for, None if its base64 is not valid.

    `whsec_` and base64 stand for those bytes, any other text for its UTF-8.

    Source: https://www.standardwebhooks.com, "Signature scheme".
    """
    prefix, base64 = secret[:6], secret[6:]
    if prefix != "whsec_":
        return secret.encode()
    try:
        return b64decode(base64, validate=True)
    except (binascii.Error, ValueError):
        return None


TRIGGER_CONFIGS: Final[Mapping[TriggerType, type[Model]]] = {
    TriggerType.RECORD_CREATED: RecordConfig,
    TriggerType.RECORD_UPDATED: RecordConfig,
    TriggerType.PROPERTY_CHANGED: PropertyChangedConfig,
    TriggerType.PAGE_CREATED: PageCreatedConfig,
    TriggerType.FORM_SUBMITTED: RecordConfig,
    TriggerType.SCHEDULE: ScheduleConfig,
    TriggerType.WEBHOOK: WebhookConfig,
}


class Trigger(Model):
    """One trigger; `config` is an instance of the type's class in `TRIGGER_CONFIGS`."""

    type: Annotated[TriggerType, WORD]
    config: SerializeAsAny[Model]

    @field_validator("config", mode="plain")
    @classmethod
    def _by_type(cls, config: Any, info: ValidationInfo) -> Any:
        # No union of models: its errors would name branches, and all of them would be built.
        type_ = info.data.get("type")
        return TRIGGER_CONFIGS[type_].model_validate(config, by_name=False) if type_ else config
