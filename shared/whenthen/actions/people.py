"""The users of a workspace as a container that reads them once, and only if it is asked."""

from functools import cached_property
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.domain.kinds import Role
from whenthen.store import notifications


class WorkspacePeople:
    """`user_id in people`: whether that user (id as text) is a member of the workspace."""

    def __init__(self, connection: Connection, workspace_id: UUID) -> None:
        self._connection = connection
        self._workspace_id = workspace_id

    def __contains__(self, user_id: object) -> bool:
        return user_id in self._ids

    @cached_property
    def roles(self) -> dict[UUID, Role]:
        return notifications.members(self._connection, [self._workspace_id])[self._workspace_id]

    @cached_property
    def _ids(self) -> frozenset[str]:
        return frozenset(str(user_id) for user_id in self.roles)


class People:
    """The people of each workspace that a group of steps touches."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._workspaces: dict[UUID, WorkspacePeople] = {}

    def of(self, workspace_id: UUID) -> WorkspacePeople:
        if workspace_id not in self._workspaces:
            self._workspaces[workspace_id] = WorkspacePeople(self._connection, workspace_id)
        return self._workspaces[workspace_id]
