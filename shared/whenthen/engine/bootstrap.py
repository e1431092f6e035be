"""Makes the first workspace of a deployment, its OWNER and a token: before it nobody has one.

Called by the migrator function, which only IAM lets anybody invoke.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

from whenthen.domain.errors import ConflictError, InvalidError
from whenthen.domain.kinds import Role
from whenthen.domain.rules import text_hygiene
from whenthen.domain.schemas import problems
from whenthen.domain.schemas.bootstrap import BootstrapEvent
from whenthen.engine.context import Context
from whenthen.store import audit, first_workspace, tenants
from whenthen.store.audit import AuditEntry

if TYPE_CHECKING:
    from uuid import UUID

    from sqlalchemy.engine import Connection

TOKEN_NAME = "bootstrap"  # noqa: S105  # a name, no token


def bootstrap(context: Context, event: Any) -> dict[str, Any]:
    """Return `{"workspaceId", "userId", "token"}`, or `{"error": {"code", "message"}}` if refused.

    The token is nowhere stored, and the answer is its only showing. A second call is refused with
    `WORKSPACE_EXISTS`, of two at once the later one, unless it says `"another": true`. A refusal is
    an answer and no failure of the function, which would ring the operators' alarm.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: the database is out of reach.

    """
    try:
        _require_storable(event)
        wanted = problems.read(BootstrapEvent, event)
        return context.database.transact(partial(_made, wanted=wanted))
    except (ConflictError, InvalidError) as error:
        return {"error": {"code": error.code, "message": str(error)}}


def _require_storable(event: Any) -> None:
    # Not cleaned as a request's body is: whoever types a name sees at once that it went wrong.
    if text_hygiene.clean(event)[1]:
        message = "a text holds a NUL or half a surrogate pair, which the database cannot keep"
        raise InvalidError("VALIDATION_FAILED", message)


def _made(connection: "Connection", wanted: BootstrapEvent) -> dict[str, Any]:
    present = first_workspace.hold_and_count(connection)
    if present and not wanted.another:
        raise ConflictError("WORKSPACE_EXISTS", f"this deployment has {present} workspaces already")
    workspace_id = tenants.create_workspace(connection, wanted.workspace)
    user_id = tenants.create_user(connection, wanted.email, None)
    tenants.add_member(connection, workspace_id, user_id, Role.OWNER)
    token_id, token = tenants.create_token(connection, user_id, TOKEN_NAME, None)
    audit.add(
        connection,
        [
            _entry(workspace_id, "member.added", ("user", user_id), {"role": Role.OWNER.value}),
            _entry(workspace_id, "token.created", ("token", token_id), {"name": TOKEN_NAME}),
        ],
    )
    return {"workspaceId": str(workspace_id), "userId": str(user_id), "token": token}


def _entry(
    workspace_id: "UUID", action: str, on: "tuple[str, UUID]", data: dict[str, Any]
) -> AuditEntry:
    kind, id_ = on
    return AuditEntry(workspace_id, action, "SYSTEM", "bootstrap", kind, str(id_), data)
