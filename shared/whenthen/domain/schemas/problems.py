"""What is wrong with a value, by path: the details of a 422, which never repeat the input."""

from collections.abc import Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from whenthen.domain.errors import InvalidError
from whenthen.domain.schemas.details import DETAILS_MAX, Detail, detail

SomeModel = TypeVar("SomeModel", bound=BaseModel)

# Words of JSON for faults that pydantic names in words of Python.
_MESSAGES: Final = {
    "missing": "is required",
    "extra_forbidden": "is not a known key",
    "model_type": "must be an object",
    "dict_type": "must be an object",
    "list_type": "must be a list",
    "string_type": "must be a text",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
}


def read(model: type[SomeModel], value: Any) -> SomeModel:
    """Return the JSON `value`, its text already cleaned, as a `model`.

    Raises:
        InvalidError: `VALIDATION_FAILED` with details; for a bad condition `CONDITION_INVALID`.

    """
    try:
        return model.model_validate(value, by_name=False)
    except ValidationError as error:
        raise invalid(details_of(error)) from error


def details_of(error: ValidationError) -> list[Detail]:
    """Return the details of `error`, at most 50 of them, by the JSON paths of what was read."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    return [
        detail(_steps(fault["loc"]), _MESSAGES.get(fault["type"], fault["msg"]), fault["type"])
        for fault in faults[:DETAILS_MAX]
    ]


def _steps(location: tuple[int | str, ...]) -> tuple[int | str, ...]:
    # Of a key that is at fault itself, pydantic adds this step to the key's.
    return location[:-1] if location[-1:] == ("[key]",) else location


def invalid(details: Sequence[Detail]) -> InvalidError:
    """Return the 422 for `details`, which are not empty; its message is the first of them."""
    first = details[0]
    return InvalidError(
        "VALIDATION_FAILED", f"{first['path'] or 'the body'}: {first['message']}", details
    )
