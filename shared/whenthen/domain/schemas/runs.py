"""Bodies of the routes that start runs and run them again."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from whenthen.domain.schemas.base import Model


class RunAutomationBody(Model):
    """A manual run's input; its size is judged where it is stored."""

    input: dict[str, Any] | None = None


def _retry_point(value: Any) -> Any:
    is_word = isinstance(value, str) and value in {"failed", "start"}
    is_index = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if not (is_word or is_index):
        raise PydanticCustomError(
            "retry_point", 'must be "failed", "start" or the index of an action'
        )
    return value


class RetryBody(Model):
    """Where a manual retry begins (an index counts from 0), and with which version."""

    from_: Annotated[Any, Field(alias="from"), AfterValidator(_retry_point)] = "failed"
    version: Literal["original", "latest"] = "original"
