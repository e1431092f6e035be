from uuid import UUID

import pytest

from whenthen.domain.errors import ForbiddenError, NotFoundError
from whenthen.domain.kinds import Role
from whenthen.domain.rules.permissions import (
    LEVEL_OF_ROLE,
    Access,
    Grants,
    Level,
    Needs,
    Subject,
    require,
)

MINE = UUID(int=1)
OTHER = UUID(int=2)

ROLES_BY_LEVEL = [
    (Level.VIEW, {Role.VIEWER, Role.EDITOR, Role.ADMIN, Role.OWNER}),
    (Level.EDIT, {Role.EDITOR, Role.ADMIN, Role.OWNER}),
    (Level.ADMIN, {Role.ADMIN, Role.OWNER}),
    (Level.OWNER, {Role.OWNER}),
]


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize(("level", "roles"), ROLES_BY_LEVEL)
def test_a_role_holds_its_level_and_those_below(level: Level, roles: set[Role], role: Role) -> None:
    needs = Needs(Subject.WORKSPACE, level)
    if role in roles:
        require(Access(role), needs, None)
    else:
        with pytest.raises(ForbiddenError):
            require(Access(role), needs, None)


def test_every_role_has_a_level() -> None:
    assert set(LEVEL_OF_ROLE) == set(Role)


@pytest.mark.parametrize("grants", Grants)
def test_who_has_neither_role_nor_grant_finds_nothing(grants: Grants) -> None:
    with pytest.raises(NotFoundError):
        require(Access(), Needs(Subject.AUTOMATION, Level.VIEW, grants), MINE)


GRANT_CASES = [
    # how a grant counts, the need, what is granted on MINE, the row's database, what comes of it
    (Grants.NEVER, Level.VIEW, Level.EDIT, MINE, NotFoundError),
    (Grants.OF_ROW, Level.VIEW, Level.VIEW, MINE, None),
    (Grants.OF_ROW, Level.EDIT, Level.VIEW, MINE, ForbiddenError),
    (Grants.OF_ROW, Level.EDIT, Level.EDIT, MINE, None),
    (Grants.OF_ROW, Level.ADMIN, Level.EDIT, MINE, ForbiddenError),
    (Grants.OF_ROW, Level.VIEW, Level.EDIT, OTHER, NotFoundError),
    (Grants.OF_ROW, Level.VIEW, Level.EDIT, None, NotFoundError),
    (Grants.ANY, Level.VIEW, Level.VIEW, None, None),
    (Grants.ANY, Level.EDIT, Level.VIEW, None, ForbiddenError),
    (Grants.ANY, Level.EDIT, Level.EDIT, None, None),
]


@pytest.mark.parametrize(("how", "need", "granted", "database_id", "outcome"), GRANT_CASES)
def test_a_grant_reaches_as_far_as_the_route_lets_it(
    how: Grants,
    need: Level,
    granted: Level,
    database_id: UUID | None,
    outcome: type[Exception] | None,
) -> None:
    access = Access(grants={MINE: granted})
    needs = Needs(Subject.AUTOMATION, need, how)
    if outcome is None:
        require(access, needs, database_id)
    else:
        with pytest.raises(outcome):
            require(access, needs, database_id)


def test_a_grant_lifts_a_viewer_on_its_database_only() -> None:
    access = Access(Role.VIEWER, {MINE: Level.EDIT})
    needs = Needs(Subject.AUTOMATION, Level.EDIT, Grants.OF_ROW)
    require(access, needs, MINE)
    with pytest.raises(ForbiddenError):
        require(access, needs, OTHER)


def test_only_databases_is_none_where_the_role_suffices() -> None:
    access = Access(Role.VIEWER, {MINE: Level.EDIT, OTHER: Level.VIEW})
    assert access.only_databases(Level.VIEW) is None
    assert access.only_databases(Level.EDIT) == frozenset({MINE})
