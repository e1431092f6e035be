"""The body of a redrive: which ended runs of a workspace are to be brought back."""

from typing import Annotated, Literal

from pydantic import Field

from whenthen.domain.schemas.base import Id, Instant, Model


class RedriveBody(Model):
    """What is absent or null does not narrow; `from` counts, `to` no longer does.

    With `dryRun` the runs are only counted.
    """

    status: Literal["FAILED", "DEAD_LETTER"] | None = None
    automation_id: Id | None = None
    record_id: str | None = None
    from_: Annotated[Instant | None, Field(alias="from")] = None
    to: Instant | None = None
    dry_run: bool = False
