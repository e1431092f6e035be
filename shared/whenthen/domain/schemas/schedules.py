"""The body of the route that previews a schedule."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from whenthen.domain import limits
from whenthen.domain.schemas.base import Instant
from whenthen.domain.schemas.triggers import ScheduleClock


def _in_bounds(after: datetime) -> datetime:
    if not limits.PREVIEW_FIRST_YEAR <= after.year <= limits.PREVIEW_LAST_YEAR:
        raise PydanticCustomError(
            "instant",
            "must be within the years {first}..{last}",
            {"first": limits.PREVIEW_FIRST_YEAR, "last": limits.PREVIEW_LAST_YEAR},
        )
    return after


class PreviewSchedule(ScheduleClock):
    """A schedule, and which of its instants to show: the first `count` after `after`, else now."""

    after: Annotated[Instant, AfterValidator(_in_bounds)] | None = None
    count: Annotated[int, Field(ge=1, le=limits.PREVIEW_FIRES_MAX)] = limits.PREVIEW_FIRES_DEFAULT
