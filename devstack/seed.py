"""The demo workspace, its foreign neighbour, and the tokens that open them."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from whenthen.domain.kinds import Role
from whenthen.domain.rules.permissions import Subject
from whenthen.store import access, tenants
from whenthen.store.connection import Database

if TYPE_CHECKING:
    from uuid import UUID

    from sqlalchemy.engine import Connection

STATUS_OPTIONS = ("A", "B", "C")
TAG_OPTIONS = ("bug", "idea", "question")
TICKETS: Final[list[dict[str, Any]]] = [
    {"name": "Name", "type": "text"},
    {"name": "Status", "type": "select", "options": list(STATUS_OPTIONS)},
    {"name": "Priority", "type": "number"},
    {"name": "Due", "type": "date"},
    {"name": "Done", "type": "checkbox"},
    {"name": "Tags", "type": "multi_select", "options": list(TAG_OPTIONS)},
]


@dataclass(frozen=True, slots=True)
class Tenant:
    """One workspace with its *Tickets* database and its owner's token."""

    workspace_id: str
    database_id: str
    token: str


@dataclass(frozen=True, slots=True)
class Seed:
    """What a newcomer needs to call the API."""

    demo: Tenant
    viewer_token: str
    other: Tenant


def seed(database: Database, data: Path) -> Seed:
    """Return the tenants of this data folder, made at its first start.

    Tokens are stored as digests only, so their texts are kept beside the data, readable by the
    owner alone.
    """
    kept = data / "seed.json"
    if kept.exists():
        found = _from_json(json.loads(kept.read_text("utf-8")))
        if database.transact(lambda connection: _token_works(connection, found)):
            return found
    made = database.transact(_create)
    _write_private(kept, json.dumps(asdict(made), indent=2))
    return made


def _create(connection: "Connection") -> Seed:
    demo_workspace = tenants.create_workspace(connection, "Demo")
    other_workspace = tenants.create_workspace(connection, "Neighbour")
    viewer = tenants.create_user(connection, "viewer@demo.test", "Demo Viewer")
    tenants.add_member(connection, demo_workspace, viewer, Role.VIEWER)
    _, viewer_token = tenants.create_token(connection, viewer, "devstack", None)
    return Seed(
        demo=_tenant(connection, demo_workspace, "owner@demo.test"),
        viewer_token=viewer_token,
        other=_tenant(connection, other_workspace, "owner@neighbour.test"),
    )


def _tenant(connection: "Connection", workspace_id: "UUID", email: str) -> Tenant:
    owner = tenants.create_user(connection, email, "Owner")
    tenants.add_member(connection, workspace_id, owner, Role.OWNER)
    _, token = tenants.create_token(connection, owner, "devstack", None)
    database_id = tenants.create_database(connection, workspace_id, "Tickets", TICKETS)
    return Tenant(str(workspace_id), str(database_id), token)


def _token_works(connection: "Connection", kept: Seed) -> bool:
    digest = tenants.hash_of(kept.demo.token)
    return access.of_token(connection, digest, Subject.CALLER, None) is not None


def _from_json(fields: dict[str, Any]) -> Seed:
    return Seed(Tenant(**fields["demo"]), fields["viewer_token"], Tenant(**fields["other"]))


def _write_private(path: Path, text: str) -> None:
    temporary = path.with_suffix(".new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    temporary.replace(path)
