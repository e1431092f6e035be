"""Health, and the document itself."""

from typing import Literal

from pydantic import ConfigDict, Field

from http_api.answers.base import Shape


class Healthy(Shape):
    """The process answers."""

    status: Literal["ok"]


class Ready(Shape):
    """The database answers, too; `schema` names its newest migration."""

    status: Literal["ok"]
    schema_: str = Field(alias="schema", examples=["0001_initial"])


class Document(Shape):
    """An OpenAPI 3.1 document."""

    model_config = ConfigDict(extra="allow")

    openapi: str = Field(examples=["3.1.0"])
