"""Who takes part: users, members, grants, tokens, secrets, notifications, the audit log."""

from typing import Literal

from pydantic import Field

from http_api.answers.base import Id, Instant, JsonObject, Shape
from whenthen.domain.kinds import Role


class Workspace(Shape):
    """A workspace and the caller's role in it."""

    id: Id
    name: str = Field(examples=["Support"])
    role: Role


class Me(Shape):
    """The caller."""

    id: Id
    email: str | None = Field(examples=["ada@example.com"])
    name: str | None = Field(examples=["Ada"])
    workspaces: list[Workspace]


class Notification(Shape):
    """What a person was told."""

    id: Id
    workspace_id: Id
    title: str = Field(examples=["Ticket Leaking tap"])
    body: str | None = Field(examples=[None])
    run_id: Id | None
    read_at: Instant | None = Field(examples=[None])
    created_at: Instant


class Member(Shape):
    """A person in a workspace."""

    user_id: Id
    email: str | None = Field(examples=["ada@example.com"])
    name: str | None = Field(examples=["Ada"])
    role: Role
    created_at: Instant


class Grant(Shape):
    """A person with a grant on a database."""

    user_id: Id
    email: str | None = Field(examples=["ada@example.com"])
    name: str | None = Field(examples=["Ada"])
    level: Literal["VIEW", "EDIT"]
    created_at: Instant


class Token(Shape):
    """One of the caller's tokens, without its text."""

    id: Id
    name: str = Field(examples=["laptop"])
    expires_at: Instant | None = Field(examples=[None])
    last_used_at: Instant | None = Field(examples=[None])
    created_at: Instant


class MadeToken(Token):
    """A new token, shown once; null where an answer is repeated by its key."""

    token: str | None = Field(examples=["wt_…"])


class Secret(Shape):
    """A secret by its name; no value is ever shown."""

    name: str = Field(examples=["CRM_KEY"])
    updated_at: Instant


class AuditActor(Shape):
    """Who did it: a user's id, or the system's part, such as `automation:019…`."""

    type: Literal["USER", "SYSTEM"]
    id: str = Field(examples=["019cafe0-3c5a-7b1e-9f00-5d2f8c6a1b20"])


class AuditResource(Shape):
    """What it was done to."""

    type: str = Field(examples=["automation_run"])
    id: str = Field(examples=["019cafe0-3c5a-7b1e-9f00-5d2f8c6a1b20"])


class AuditEntry(Shape):
    """Who did what to which object of a workspace."""

    id: Id
    action: str = Field(examples=["run.retried"])
    actor: AuditActor
    resource: AuditResource
    data: JsonObject
    created_at: Instant
