"""The nine actions: `{"id"?, "type", "config", "retries"?, "timeoutMs"?}`, a config for each type.

Ids and other texts may hold templates, so they are text here; `parse_id` tells a literal id.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializeAsAny,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from whenthen.domain import limits
from whenthen.domain.errors import FatalError
from whenthen.domain.kinds import ActionType
from whenthen.domain.schemas.base import WORD, Id, Model, Name
from whenthen.domain.schemas.problems import details_of
from whenthen.domain.schemas.templated import (
    AddressText,
    IdText,
    InstantText,
    Line,
    RecordText,
    Text,
    UrlText,
    has_template,
)

# RFC 9110, "token".
HeaderName = Annotated[str, Field(max_length=100, pattern=r"^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$")]
HeaderValue = Annotated[str, Field(max_length=8_192, pattern=r"^[^\r\n]*$")]

# The engine's own, and those by which a client and a server agree on where a message ends.
RESERVED_HEADERS: Final = frozenset(
    {
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
        "idempotency-key",
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "keep-alive",
        "proxy-connection",
        "proxy-authorization",
        "expect",
        "te",
        "trailer",
        "upgrade",
    }
)
RESERVED_HEADER_PREFIX: Final = "whenthen-"


class CreateRecordConfig(Model):
    database_id: IdText
    property_values: dict[Name, Any]


class UpdateRecordConfig(Model):
    record_id: RecordText
    property_values: dict[Name, Any]


class DeleteRecordConfig(Model):
    record_id: RecordText


class CreatePageConfig(Model):
    title: Text
    parent_id: IdText | None = None
    content: str | None = None


class CreateNotificationConfig(Model):
    """Without `userIds` and `audience` the admins are told; `audience` is None beside `userIds`."""

    title: Text
    body: str | None = None
    user_ids: (
        Annotated[list[IdText], Field(min_length=1, max_length=limits.NOTIFICATION_USERS_MAX)]
        | None
    ) = None
    audience: Literal["admins", "members", "actor"] | None = None

    @model_validator(mode="after")
    def _one_audience(self) -> Self:
        if self.user_ids is not None and self.audience is not None:
            raise PydanticCustomError("audience", "must not have both userIds and audience")
        return self


class SendEmailConfig(Model):
    to: Annotated[list[AddressText], Field(min_length=1, max_length=limits.EMAIL_RECIPIENTS_MAX)]
    subject: Line
    text: Text | None = None
    html: Text | None = None
    reply_to: AddressText | None = None

    @model_validator(mode="after")
    def _has_content(self) -> Self:
        if self.text is None and self.html is None:
            raise PydanticCustomError("content", "must have text or html")
        return self


class SendWebhookConfig(Model):
    url: UrlText
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    headers: Annotated[
        dict[HeaderName, HeaderValue], Field(max_length=limits.WEBHOOK_HEADERS_MAX)
    ] = Field(default_factory=dict)
    body: Any = None
    signing_secret: Text | None = None

    @field_validator("headers")
    @classmethod
    def _are_free(cls, headers: dict[str, str]) -> dict[str, str]:
        names = [name.lower() for name in headers]
        if len(set(names)) < len(names):
            raise PydanticCustomError("header", "must not name one header twice")
        if any(n in RESERVED_HEADERS or n.startswith(RESERVED_HEADER_PREFIX) for n in names):
            raise PydanticCustomError("header", "must not set a header that the engine sets itself")
        return headers


def _without_decimal(value: Any) -> Any:
    # JSON reads 0.70 as a Decimal; of a temperature only the size matters.
    return float(value) if isinstance(value, Decimal) else value


class AiGenerateConfig(Model):
    prompt: Text
    system: Text | None = None
    model_id: Text | None = None
    max_tokens: Annotated[int, Field(ge=1, le=limits.AI_TOKENS_MAX)] = limits.AI_TOKENS_DEFAULT
    temperature: Annotated[float, BeforeValidator(_without_decimal), Field(ge=0, le=1)] | None = (
        None
    )


def _seconds(value: Any) -> Any:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if is_number and 1 <= value <= limits.DELAY_MAX_S:
        return value
    if isinstance(value, str) and has_template(value):
        return value
    raise PydanticCustomError(
        "delay",
        "must be a whole number from 1 to {most}, or hold a template",
        {"most": limits.DELAY_MAX_S},
    )


# No union: its errors would name its branches.
Seconds = Annotated[
    Any,
    AfterValidator(_seconds),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": limits.DELAY_MAX_S},
                {"type": "string", "description": "a template, such as {{ record.Wait }}"},
            ]
        }
    ),
]


class DelayConfig(Model):
    """`seconds` is a number, or a text with a template that makes one."""

    seconds: Seconds | None = None
    until: InstantText | None = None

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if (self.seconds is None) == (self.until is None):
            raise PydanticCustomError("delay", "must have either seconds or until")
        return self


ACTION_CONFIGS: Final[Mapping[ActionType, type[Model]]] = {
    ActionType.CREATE_RECORD: CreateRecordConfig,
    ActionType.UPDATE_RECORD: UpdateRecordConfig,
    ActionType.DELETE_RECORD: DeleteRecordConfig,
    ActionType.CREATE_PAGE: CreatePageConfig,
    ActionType.CREATE_NOTIFICATION: CreateNotificationConfig,
    ActionType.SEND_EMAIL: SendEmailConfig,
    ActionType.SEND_WEBHOOK: SendWebhookConfig,
    ActionType.AI_GENERATE: AiGenerateConfig,
    ActionType.DELAY: DelayConfig,
}


class Action(Model):
    """One action; `config` is an instance of the type's class in `ACTION_CONFIGS`."""

    id: Id | None = None
    type: Annotated[ActionType, WORD]
    config: SerializeAsAny[Model]
    retries: Annotated[int, Field(ge=0, le=limits.ACTION_RETRIES_MAX)] | None = None
    timeout_ms: (
        Annotated[int, Field(ge=limits.ACTION_TIMEOUT_MIN_MS, le=limits.ACTION_TIMEOUT_MAX_MS)]
        | None
    ) = None

    @field_validator("config", mode="plain")
    @classmethod
    def _by_type(cls, config: Any, info: ValidationInfo) -> Any:
        # No union of models: its errors would name branches, and all of them would be built.
        type_ = info.data.get("type")
        return ACTION_CONFIGS[type_].model_validate(config, by_name=False) if type_ else config


def stored_config(type_: ActionType, config: Any) -> dict[str, Any]:
    """Return the config of a stored action after validating it again, its defaults written out.

    Raises:
        FatalError: `ACTION_CONFIG_INVALID`, it is not valid (any longer).

    """
    try:
        return ACTION_CONFIGS[type_].model_validate(config, by_name=False).to_json()
    except ValidationError as error:
        first = details_of(error)[0]
        raise FatalError(
            "ACTION_CONFIG_INVALID", f"{first['path'] or 'config'}: {first['message']}"
        ) from error
