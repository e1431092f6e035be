"""The parameters of the floors' statements, made with as little work as possible."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from bench.triage import Triage
from whenthen.store.new_id import new_id

Rows = list[dict[str, Any]]


@dataclass
class FloorRun:
    """One run to be: every id that its rows need, decided beforehand."""

    record_id: UUID
    id: UUID = field(default_factory=new_id)
    lease: UUID = field(default_factory=uuid4)
    updated_event: UUID = field(default_factory=new_id)
    executed_event: UUID = field(default_factory=new_id)


@dataclass
class FloorRows:
    """Parameters for runs of the automation of `triage` that matches."""

    triage: Triage

    def insert(self, runs: Iterable[FloorRun]) -> str:
        return _json(
            {
                "id": run.id,
                "automation_id": self.triage.matching_id,
                "workspace_id": self.triage.workspace_id,
                "event_id": f"evt:{run.record_id}",
                "record_id": run.record_id,
                "input": {
                    "type": "record.created",
                    "payload": {
                        "recordId": run.record_id,
                        "databaseId": self.triage.database_id,
                        "properties": {"Name": "Ticket", "Status": "B"},
                    },
                    "workspaceId": self.triage.workspace_id,
                    "automationContext": None,
                },
            }
            for run in runs
        )

    def claim(self, runs: Iterable[FloorRun]) -> str:
        return _json({"id": run.id, "lease": run.lease} for run in runs)

    def first_step(self, runs: Iterable[FloorRun]) -> str:
        first, second = self.triage.action_ids
        return _json(
            {
                "id": run.id,
                "lease": run.lease,
                "workspace_id": self.triage.workspace_id,
                "record_id": run.record_id,
                "changes": {"Priority": 1},
                "action_id": first,
                "next_action_id": second,
                "output": {"recordId": run.record_id, "changedProperties": ["Priority"]},
                "event_id": run.updated_event,
                "event": {
                    "recordId": run.record_id,
                    "databaseId": self.triage.database_id,
                    "properties": {"Name": "Ticket", "Status": "B", "Priority": 1},
                    "previous": {"Priority": None},
                    "changedProperties": ["Priority"],
                    "recordVersion": 2,
                },
                "context": {"runId": run.id, "rootRunId": run.id, "depth": 1, "chain": []},
            }
            for run in runs
        )

    def last_step(self, runs: Iterable[FloorRun]) -> str:
        return _json(
            {
                "id": run.id,
                "lease": run.lease,
                "workspace_id": self.triage.workspace_id,
                "user_id": self.triage.owner_id,
                "title": "Triage Ticket",
                "notification_id": run.lease,
                "action_id": self.triage.action_ids[1],
                "output": {"notificationIds": [run.lease]},
                "event_id": run.executed_event,
                "event": {"runId": run.id, "status": "SUCCEEDED", "durationMs": 1},
            }
            for run in runs
        )

    def events(self, runs: Iterable[FloorRun]) -> str:
        ids = [(run.updated_event, run.executed_event) for run in runs]
        return json.dumps([str(one) for pair in ids for one in pair])


def cut(runs: Sequence[FloorRun], size: int) -> list[Sequence[FloorRun]]:
    """Return `runs` in batches of `size`."""
    return [runs[start : start + size] for start in range(0, len(runs), size)]


def _json(rows: Iterable[dict[str, Any]]) -> str:
    return json.dumps(list(rows), default=str)
