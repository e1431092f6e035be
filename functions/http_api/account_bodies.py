"""The JSON of workspaces, members, grants, tokens, secrets and audit entries.

Source: docs/api.md, "Exact JSON".
"""

from http_api.bodies import JsonObject
from http_api.shown_once import ShownOnce
from whenthen.domain import instants
from whenthen.engine.manage_tokens import MadeToken
from whenthen.engine.manage_workspaces import Workspace
from whenthen.store.api_tokens import TokenRow
from whenthen.store.audit_list import AuditRow
from whenthen.store.grants import GrantRow
from whenthen.store.members import MemberRow
from whenthen.store.secrets import SecretRow


def workspace(made: Workspace) -> JsonObject:
    return {"id": str(made.id), "name": made.name, "role": made.role}


def member(row: MemberRow) -> JsonObject:
    return {
        "userId": str(row.id),
        "email": row.email,
        "name": row.name,
        "role": row.role,
        "createdAt": instants.to_text(row.created_at),
    }


def grant(row: GrantRow) -> JsonObject:
    return {
        "userId": str(row.id),
        "email": row.email,
        "name": row.name,
        "level": row.level,
        "createdAt": instants.to_text(row.created_at),
    }


def token(row: TokenRow) -> JsonObject:
    return {
        "id": str(row.id),
        "name": row.name,
        "expiresAt": None if row.expires_at is None else instants.to_text(row.expires_at),
        "lastUsedAt": None if row.last_used_at is None else instants.to_text(row.last_used_at),
        "createdAt": instants.to_text(row.created_at),
    }


def made_token(made: MadeToken) -> JsonObject:
    """Return the token with its text: its only showing."""
    return {**token(made.row), "token": ShownOnce(made.text)}


def secret(row: SecretRow) -> JsonObject:
    return {"name": row.name, "updatedAt": instants.to_text(row.updated_at)}


def audit_entry(row: AuditRow) -> JsonObject:
    return {
        "id": str(row.id),
        "action": row.action,
        "actor": {"type": row.actor_type, "id": row.actor_id},
        "resource": {"type": row.resource_type, "id": row.resource_id},
        "data": row.data,
        "createdAt": instants.to_text(row.created_at),
    }
