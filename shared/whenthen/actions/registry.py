"""Which executor carries out which action; each is imported on first use."""

from importlib import import_module
from typing import Final, cast

from whenthen.actions.requests import DataAction, OutsideAction
from whenthen.domain.kinds import RECORDED_ACTIONS, ActionType

_MODULES: Final = {
    ActionType.CREATE_RECORD: "whenthen.actions.create_record",
    ActionType.UPDATE_RECORD: "whenthen.actions.update_record",
    ActionType.DELETE_RECORD: "whenthen.actions.delete_record",
    ActionType.CREATE_PAGE: "whenthen.actions.create_page",
    ActionType.CREATE_NOTIFICATION: "whenthen.actions.create_notification",
    ActionType.SEND_EMAIL: "whenthen.actions.send_email",
    ActionType.SEND_WEBHOOK: "whenthen.actions.send_webhook",
    ActionType.AI_GENERATE: "whenthen.actions.ai_generate",
}

# The one seam for tests: an executor that stands in for an action. The action's type must be a
# real one and its config still passes validation, so a test cannot go around either.
_test_executors: dict[ActionType, OutsideAction] = {}


def register_test_executor(action_type: ActionType, executor: OutsideAction) -> None:
    """Let `executor` carry out every `action_type` of this process, as an outside action."""
    _test_executors[ActionType(action_type)] = executor


def clear_test_executors() -> None:
    """Let every action be carried out by its own executor again."""
    _test_executors.clear()


def is_data_action(action_type: ActionType) -> bool:
    """Return whether what `action_type` does commits together with its step row."""
    return action_type in RECORDED_ACTIONS and action_type not in _test_executors


def data_executor(action_type: ActionType) -> DataAction:
    """Return the executor of a data action: `apply(connection, requests) -> answers`."""
    return cast("DataAction", import_module(_MODULES[action_type]).apply)


def outside_executor(action_type: ActionType) -> OutsideAction:
    """Return the executor of an outside action: `perform(request) -> success`."""
    if action_type in _test_executors:
        return _test_executors[action_type]
    return cast("OutsideAction", import_module(_MODULES[action_type]).perform)
