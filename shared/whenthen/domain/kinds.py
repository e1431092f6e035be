"""The closed sets of words that the engine speaks: statuses, types, roles, reasons."""

from enum import StrEnum


class AutomationStatus(StrEnum):
    DRAFT = "DRAFT"
    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    ARCHIVED = "ARCHIVED"


class RunStatus(StrEnum):
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    DEAD_LETTER = "DEAD_LETTER"


TERMINAL_RUN_STATUSES = frozenset({RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.DEAD_LETTER})


class StepStatus(StrEnum):
    STARTED = "STARTED"
    WAITING = "WAITING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


class TriggerType(StrEnum):
    RECORD_CREATED = "RECORD_CREATED"
    RECORD_UPDATED = "RECORD_UPDATED"
    PROPERTY_CHANGED = "PROPERTY_CHANGED"
    PAGE_CREATED = "PAGE_CREATED"
    FORM_SUBMITTED = "FORM_SUBMITTED"
    SCHEDULE = "SCHEDULE"
    WEBHOOK = "WEBHOOK"


class ActionType(StrEnum):
    CREATE_RECORD = "CREATE_RECORD"
    UPDATE_RECORD = "UPDATE_RECORD"
    DELETE_RECORD = "DELETE_RECORD"
    CREATE_PAGE = "CREATE_PAGE"
    CREATE_NOTIFICATION = "CREATE_NOTIFICATION"
    SEND_EMAIL = "SEND_EMAIL"
    SEND_WEBHOOK = "SEND_WEBHOOK"
    AI_GENERATE = "AI_GENERATE"
    DELAY = "DELAY"


# Their effect and their step row commit in one transaction: exactly once.
DATA_ACTIONS = frozenset(
    {
        ActionType.CREATE_RECORD,
        ActionType.UPDATE_RECORD,
        ActionType.DELETE_RECORD,
        ActionType.CREATE_PAGE,
        ActionType.CREATE_NOTIFICATION,
    }
)
# A DELAY is the engine's own: all that it does is in its step row and in its run's.
RECORDED_ACTIONS = DATA_ACTIONS | {ActionType.DELAY}


class EventType(StrEnum):
    """What travels on the stream. `schedule` and `manual` are trigger types of runs, not events."""

    RECORD_CREATED = "record.created"
    RECORD_UPDATED = "record.updated"
    PAGE_CREATED = "page.created"
    FORM_SUBMITTED = "form.submitted"
    WEBHOOK_RECEIVED = "webhook.received"
    AUTOMATION_EXECUTED = "automation.executed"


# What a client may report through the events route.
HOST_EVENT_TYPES = frozenset(
    {
        EventType.RECORD_CREATED,
        EventType.RECORD_UPDATED,
        EventType.PAGE_CREATED,
        EventType.FORM_SUBMITTED,
    }
)

SCHEDULE_RUN = "schedule"
MANUAL_RUN = "manual"


class SkipReason(StrEnum):
    CONDITIONS_NOT_MET = "conditions_not_met"
    SELF_TRIGGER = "self_trigger"
    DEPTH_LIMIT = "depth_limit"
    AUTOMATION_PAUSED = "automation_paused"
    AUTOMATION_ARCHIVED = "automation_archived"
    OVERLAP = "overlap"
    SUPERSEDED = "superseded"
    RATE_LIMITED = "rate_limited"


class Role(StrEnum):
    OWNER = "OWNER"
    ADMIN = "ADMIN"
    EDITOR = "EDITOR"
    VIEWER = "VIEWER"


class PropertyType(StrEnum):
    TEXT = "text"
    NUMBER = "number"
    CHECKBOX = "checkbox"
    SELECT = "select"
    MULTI_SELECT = "multi_select"
    DATE = "date"
    PERSON = "person"
    URL = "url"
    EMAIL = "email"
