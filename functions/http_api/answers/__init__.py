"""The shape of every answer, for the OpenAPI document and for nothing else.

No request loads these: bodies.py and its like make the answers, and tests hold them against the
shapes. A shape is found by its name, so a name stands for one only.
"""

from pydantic import BaseModel

from http_api.answers import (
    automations,
    data,
    dry_runs,
    health,
    people,
    runs,
    schedules,
    stats,
    versions,
    webhooks,
)

_MODULES = (
    automations,
    data,
    dry_runs,
    health,
    people,
    runs,
    schedules,
    stats,
    versions,
    webhooks,
)


def shapes() -> dict[str, type[BaseModel]]:
    """Return every shape by its name."""
    return {
        name: value
        for module in _MODULES
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, BaseModel)
        and value.__module__ == module.__name__
    }
