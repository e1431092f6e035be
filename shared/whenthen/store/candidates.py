"""Which triggers of ACTIVE automations an event may match: one index look-up per scope."""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy.engine import Connection

from whenthen.domain import json_text
from whenthen.domain.kinds import TriggerType
from whenthen.domain.rules.matching import Candidate, Scope
from whenthen.store.prepared import prepared


def load_candidates(
    connection: Connection, scopes: Iterable[tuple[UUID, Scope]]
) -> dict[tuple[UUID, Scope], list[Candidate]]:
    """Return the candidates of every (workspace, scope), by automation and position."""
    wanted = set(scopes)
    found: dict[tuple[UUID, Scope], list[Candidate]] = {key: [] for key in wanted}
    if not wanted:
        return found
    rows = _LOAD.rows(
        connection,
        {
            "scopes": json_text.dumps(
                [
                    {
                        "workspace_id": str(workspace_id),
                        "type": scope.type.value,
                        "scope_id": str(scope.scope_id),
                    }
                    for workspace_id, scope in wanted
                ]
            )
        },
    )
    for row in rows:
        scope = Scope(TriggerType(row["type"]), row["scope_id"])
        found[row["workspace_id"], scope].append(
            Candidate(
                automation_id=row["automation_id"],
                version=row["version"],
                trigger_id=row["trigger_id"],
                position=row["position"],
                type=scope.type,
                config=row["config"],
                workspace_id=row["workspace_id"],
                scope_id=row["scope_id"],
                active_since=row["active_since"],
                is_active=row["is_active"],
            )
        )
    return found


# `offset 0` keeps the look-up in one piece, so it is made once per scope through the index. Joined
# flat, the planner reads every trigger of every workspace while there are some ten thousand
# (measured), since it takes any JSON list for a hundred rows.
_LOAD = prepared(
    """
    select t.*
    from jsonb_to_recordset(cast(:scopes as jsonb))
        as s(workspace_id uuid, type text, scope_id uuid),
        lateral (
            select t.automation_id, a.version, t.id as trigger_id, t.position, t.type, t.config,
                t.workspace_id, t.scope_id, a.active_since, a.status = 'ACTIVE' as is_active
            from automation_triggers t
            join automations a on a.id = t.automation_id
            where t.workspace_id = s.workspace_id and t.type = s.type and t.scope_id = s.scope_id
                and a.active_since is not null and (a.status = 'ACTIVE' or t.type = 'WEBHOOK')
            offset 0
        ) t
    order by t.automation_id, t.position
    """
)
