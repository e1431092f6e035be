"""In-app notifications, and who of a workspace gets one."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.domain import json_text
from whenthen.domain.kinds import Role
from whenthen.store.prepared import prepared


@dataclass(frozen=True, slots=True)
class NewNotification:
    id: UUID
    workspace_id: UUID
    user_id: UUID
    title: str
    body: str | None
    run_id: UUID | None


def insert(connection: Connection, notifications: Sequence[NewNotification]) -> None:
    """Insert `notifications`; their users are members, checked by the caller."""
    if not notifications:
        return
    _INSERT.run(
        connection,
        {
            "rows": json_text.dumps(
                [
                    {
                        "id": str(row.id),
                        "workspace_id": str(row.workspace_id),
                        "user_id": str(row.user_id),
                        "title": row.title,
                        "body": row.body,
                        "run_id": str(row.run_id) if row.run_id else None,
                    }
                    for row in notifications
                ]
            )
        },
    )


_INSERT = prepared(
    """
    insert into notifications (id, workspace_id, user_id, title, body, run_id)
    select id, workspace_id, user_id, title, body, run_id
    from jsonb_to_recordset(cast(:rows as jsonb))
        as n(id uuid, workspace_id uuid, user_id uuid, title text, body text, run_id uuid)
    """
)


def addresses(connection: Connection, user_ids: Sequence[UUID]) -> dict[UUID, str]:
    """Return the e-mail addresses of those of `user_ids` that have one."""
    rows = _ADDRESSES.rows(connection, {"ids": list(user_ids)})
    return {row["id"]: row["email"] for row in rows}


_ADDRESSES = prepared(
    """
    select id, email from users where id = any(cast(:ids as uuid[])) and email is not null
    order by id
    """
)


def members(connection: Connection, workspace_ids: Sequence[UUID]) -> dict[UUID, dict[UUID, Role]]:
    """Return, per workspace, its members and their roles, oldest membership first."""
    rows = _MEMBERS.rows(connection, {"ids": list(set(workspace_ids))})
    found: dict[UUID, dict[UUID, Role]] = {workspace_id: {} for workspace_id in workspace_ids}
    for row in rows:
        found[row["workspace_id"]][row["user_id"]] = Role(row["role"])
    return found


_MEMBERS = prepared(
    """
    select workspace_id, user_id, role
    from members where workspace_id = any(cast(:ids as uuid[]))
    order by created_at, user_id
    """
)
