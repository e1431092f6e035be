"""Who may do what: a member's role, or a grant on one database, against what a route needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from uuid import UUID

from whenthen.domain.errors import ForbiddenError, NotFoundError
from whenthen.domain.kinds import Role


class Level(IntEnum):
    """What a route needs, each level holding the ones below it."""

    VIEW = 1
    EDIT = 2
    ADMIN = 3
    OWNER = 4


LEVEL_OF_ROLE = {
    Role.VIEWER: Level.VIEW,
    Role.EDITOR: Level.EDIT,
    Role.ADMIN: Level.ADMIN,
    Role.OWNER: Level.OWNER,
}


class Subject(Enum):
    """What the first id of a route's path names, and so whose workspace decides."""

    CALLER = "caller"
    WORKSPACE = "workspace"
    AUTOMATION = "automation"
    DATABASE = "database"
    RECORD = "record"
    PAGE = "page"


class Grants(Enum):
    """How far a database grant can stand in for a role."""

    # Not at all.
    NEVER = "never"
    # For the row, if the row is scoped to the granted database.
    OF_ROW = "of_row"
    # Any grant in the workspace opens the route, which then narrows what it shows or accepts.
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Needs:
    """What a route needs of its caller."""

    subject: Subject
    level: Level = Level.VIEW
    grants: Grants = Grants.NEVER


@dataclass(frozen=True, slots=True)
class Access:
    """What one person holds in one workspace: `{database: level}` of the grants, and the role."""

    role: Role | None = None
    grants: Mapping[UUID, Level] = field(default_factory=dict)

    def by_role(self, level: Level) -> bool:
        return self.role is not None and LEVEL_OF_ROLE[self.role] >= level

    def on(self, database_id: UUID | None, level: Level) -> bool:
        """Tell whether automations scoped to this database are open at this level."""
        return self.by_role(level) or self.grants.get(database_id, 0) >= level  # type: ignore[arg-type]

    def only_databases(self, level: Level) -> frozenset[UUID] | None:
        """Return the databases that bound this person at this level; None when the role does."""
        if self.by_role(level):
            return None
        return frozenset(key for key, granted in self.grants.items() if granted >= level)


def require(access: Access, needs: Needs, database_id: UUID | None) -> None:
    """Return when `access` covers `needs` for a row scoped to `database_id`.

    Raises:
        ForbiddenError: the row may be seen, or something beside it, but not this done to it.
        NotFoundError: neither membership nor a grant lets the row be seen at all.

    """
    seen = access.role is not None
    allowed = access.by_role(needs.level)
    if needs.grants is Grants.OF_ROW:
        seen = seen or database_id in access.grants
        allowed = access.on(database_id, needs.level)
    elif needs.grants is Grants.ANY:
        seen = seen or bool(access.grants)
        allowed = allowed or bool(access.only_databases(needs.level))
    if not seen:
        raise NotFoundError
    if not allowed:
        raise ForbiddenError("FORBIDDEN", f"this needs {needs.level.name}")
