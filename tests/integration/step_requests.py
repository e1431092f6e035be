"""What an executor is asked, without an engine around it."""

from collections.abc import Mapping
from typing import Any

from tests.conftest import settings_for
from whenthen.actions.requests import StepRequest
from whenthen.domain.schemas.events import AutomationContext
from whenthen.store.new_id import new_id

NO_DATABASE = "postgresql://nobody@nowhere/none"


def step_request(config: Mapping[str, Any], timeout_s: float = 10, **settings: str) -> StepRequest:
    """One try of a step whose `config` is filled in; `settings` are the deployment's."""
    automation_id, run_id = new_id(), new_id()
    return StepRequest(
        run_id=run_id,
        workspace_id=new_id(),
        automation_id=automation_id,
        generation=0,
        action_id=new_id(),
        config=config,
        record_id=None,
        actor_id=None,
        child_context=AutomationContext(automation_id, run_id, run_id, 1, (automation_id,)),
        timeout_s=timeout_s,
        settings=settings_for(NO_DATABASE, **settings),
    )
