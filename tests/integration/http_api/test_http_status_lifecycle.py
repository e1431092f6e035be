"""An automation's life over HTTP, in any order of what people, events and workers do to it."""

import os
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.integration.engine_world import arrival
from tests.integration.http_api.client import CREATED_TRIGGER, NOTIFY, Answer, Api, make_tenant
from tests.integration.http_api.test_http_status import LEGAL
from whenthen.domain.kinds import AutomationStatus
from whenthen.engine.execute_runs import execute_runs
from whenthen.engine.match_events import match_events
from whenthen.store.new_id import new_id

SOAK = os.environ.get("WHENTHEN_FAULTS") == "all"


@dataclass
class Known:
    """What an automation must be by now."""

    status: str = "DRAFT"
    version: int = 1
    listens: bool = False
    active_since: Any = None
    # The runs that it has, each with whether a person started it.
    runs: dict[UUID, bool] = field(default_factory=dict)


class AutomationLifecycle(RuleBasedStateMachine):
    """Drives automations of one workspace; each has one data action."""

    api: Api

    automations = Bundle("automations")

    def __init__(self) -> None:
        super().__init__()
        self.tenant = self.api.context.database.transact(make_tenant)
        self.known: dict[str, Known] = {}

    # --------------------------------------------------------------------------- what happens

    @rule(target=automations, listens=st.booleans())
    def a_person_makes_one(self, listens: bool) -> str:  # noqa: FBT001  # hypothesis names it
        made = self.tenant.create_automation(
            databaseId=str(self.tenant.database_id),
            triggers=[CREATED_TRIGGER] if listens else [],
            actions=[NOTIFY],
        )
        self.known[made["id"]] = Known(listens=listens)
        return str(made["id"])

    @rule(automation=automations, to=st.sampled_from(AutomationStatus))
    def a_person_changes_its_status(self, automation: str, to: AutomationStatus) -> None:
        known = self.known[automation]
        answer = self.tenant.editor.post(f"/automations/{automation}/status", {"status": to})
        if (known.status, to) in LEGAL:
            assert (answer.status, answer.json["status"]) == (200, to)
            known.status = to.value
            if to == AutomationStatus.ACTIVE:
                known.active_since = self._later(automation, known.active_since)
        elif known.status == "ARCHIVED":
            assert (answer.status, answer.code) == (409, "ARCHIVED")
        else:
            assert (answer.status, answer.code) == (409, "INVALID_TRANSITION")

    @rule(automation=automations)
    def a_person_deletes_it(self, automation: str) -> None:
        assert self.tenant.editor.delete(f"/automations/{automation}").status == 204
        self.known[automation].status = "ARCHIVED"

    @rule(automation=automations)
    def a_person_renames_it(self, automation: str) -> None:
        name = f"Name {new_id()}"
        answer = self.tenant.editor.patch(f"/automations/{automation}", {"name": name})
        if self._is_edited(automation, answer):
            assert answer.json["name"] == name

    @rule(automation=automations, listens=st.booleans())
    def a_person_replaces_its_triggers(self, automation: str, listens: bool) -> None:  # noqa: FBT001
        elsewhere = {"type": "PAGE_CREATED", "config": {"pageId": str(new_id())}}
        triggers = [CREATED_TRIGGER, elsewhere] if listens else [elsewhere]
        path = f"/automations/{automation}/triggers"
        if self._is_edited(automation, self.tenant.editor.put(path, {"triggers": triggers})):
            known = self.known[automation]
            known.listens = listens
            if known.active_since is not None:
                known.active_since = self._later(automation, known.active_since)

    @rule(automation=automations)
    def a_person_replaces_its_actions(self, automation: str) -> None:
        config = {"title": f"Title {new_id()}"}
        body = {"actions": [{"type": "CREATE_NOTIFICATION", "config": config}]}
        self._is_edited(
            automation, self.tenant.editor.put(f"/automations/{automation}/actions", body)
        )

    @rule(automation=automations)
    def a_person_runs_it(self, automation: str) -> None:
        known = self.known[automation]
        answer = self.tenant.editor.post(f"/automations/{automation}/run", {})
        if known.status == "ARCHIVED":
            assert (answer.status, answer.code) == (409, "ARCHIVED")
        else:
            assert answer.status == 202
            known.runs[UUID(answer.json["runId"])] = True

    @rule()
    def an_event_arrives(self) -> None:
        event = {
            "id": str(new_id()),
            "type": "record.created",
            "workspaceId": str(self.tenant.workspace_id),
            "payload": {
                "databaseId": str(self.tenant.database_id),
                "recordId": str(new_id()),
                "properties": {"Name": "x"},
            },
        }
        match_events(self.api.context, [arrival(event)], [])
        for automation, known in self.known.items():
            new = {row["id"] for row in self._runs(automation)} - known.runs.keys()
            assert len(new) == (known.status == "ACTIVE" and known.listens)
            known.runs |= dict.fromkeys(new, False)

    @rule()
    def a_worker_takes_what_is_due(self) -> None:
        waiting = [row for a in self.known for row in self._runs(a) if row["status"] == "PENDING"]
        execute_runs(self.api.context, [row["id"] for row in waiting], lambda: 180)
        for automation, known in self.known.items():
            outcomes = {row["id"]: row for row in self._runs(automation)}
            for row in waiting:
                if row["id"] in known.runs:
                    self._ended_as_it_must(known, outcomes[row["id"]])

    @staticmethod
    def _ended_as_it_must(known: Known, run: Any) -> None:
        assert run["status"] == "SUCCEEDED", run["error"]
        skipped = run["output"].get("skipped")
        if known.status == "ARCHIVED":
            assert skipped == "automation_archived"
        elif known.status == "PAUSED" and not known.runs[run["id"]]:
            assert skipped == "automation_paused"
        else:
            assert skipped is None

    # --------------------------------------------------------------------------- what must hold

    def _is_edited(self, automation: str, answer: Answer) -> bool:
        """Whether the edit was taken, which must be so unless the automation is archived."""
        known = self.known[automation]
        if known.status == "ARCHIVED":
            assert (answer.status, answer.code) == (409, "ARCHIVED")
            return False
        assert answer.status == 200, answer.text
        if answer.json["version"] != known.version:
            known.version += 1
        return True

    def _row(self, automation: str) -> Any:
        (row,) = self.api.sql("select * from automations where id = :a", a=UUID(automation))
        return row

    def _later(self, automation: str, before: Any) -> Any:
        now = self._row(automation)["active_since"]
        assert before is None or now >= before
        return now

    def _runs(self, automation: str) -> list[Any]:
        return self.api.sql(
            "select * from automation_runs where automation_id = :a", a=UUID(automation)
        )

    @invariant()
    def everything_is_as_it_was_left(self) -> None:
        for automation, known in self.known.items():
            detail = self.tenant.viewer.get(f"/automations/{automation}").json
            assert (detail["status"], detail["version"]) == (known.status, known.version)
            assert self._row(automation)["active_since"] == known.active_since
            assert {row["id"] for row in self._runs(automation)} == known.runs.keys()

    @invariant()
    def every_version_is_kept(self) -> None:
        for automation, known in self.known.items():
            kept = self.api.sql(
                "select version from automation_versions where automation_id = :a order by version",
                a=UUID(automation),
            )
            assert [row["version"] for row in kept] == list(range(1, known.version + 1))

    @invariant()
    def archived_ones_are_listed_only_when_asked_for(self) -> None:
        path = self.tenant.automations_path
        listed = {one["id"] for one in self.tenant.viewer.get(path, limit="200").json["data"]}
        archived = self.tenant.viewer.get(path, status="ARCHIVED", limit="200").json["data"]
        assert {one["id"] for one in archived} == {
            automation for automation, known in self.known.items() if known.status == "ARCHIVED"
        }
        assert listed == self.known.keys() - {one["id"] for one in archived}


@pytest.mark.timeout(900)
def test_whatever_happens_to_an_automation_in_whatever_order_its_status_decides(api: Api) -> None:
    AutomationLifecycle.api = api
    run_state_machine_as_test(
        AutomationLifecycle,
        settings=settings(
            max_examples=100 if SOAK else 6,
            stateful_step_count=40 if SOAK else 25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
