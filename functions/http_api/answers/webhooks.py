"""Incoming webhooks."""

from pydantic import Field

from http_api.answers.base import EventId, Shape


class WebhookSecret(Shape):
    """A secret in its two forms, shown once; both null where an answer is repeated by its key."""

    url: str | None = Field(
        examples=["https://api.example.com/webhooks/incoming/q83v…"],
    )
    secret: str | None = Field(examples=["whsec_q83v…"])


class WebhookAccepted(Shape):
    """A delivery that is stored; a repetition has the same event."""

    event_id: EventId
