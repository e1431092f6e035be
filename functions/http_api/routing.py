"""The table of routes: what each one needs, reads and answers, beside the function that does it.

Nothing here knows the web framework, so that the OpenAPI document, the permission matrix and the
resolver walk one and the same table.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypedDict, TypeVar, Unpack

from pydantic import BaseModel

from whenthen.domain.rules.permissions import Needs

API_BASE: Final = "/api/v1"
_VARIABLE: Final = re.compile(r"\{(\w+)\}")

Function = TypeVar("Function", bound=Callable[..., Any])


class Contract(TypedDict, total=False):
    """What the OpenAPI document says of a route beyond what it needs and reads.

    Named, not imported: the document is built when it is asked for, and no request waits for it.
    """

    # The name of a class of answers/; without it the answer has no body.
    answers: str
    # The same for what stands in `data` of a list; the route then takes `cursor` and `limit`.
    lists: str
    # The media types of the files that it answers with instead of JSON.
    serves: tuple[str, ...]
    # What else the query may hold: name → its type, such as a StrEnum, UUID or datetime.
    query: Mapping[str, type]
    # Codes that the route's own function refuses with, such as "ARCHIVED"; the others follow from
    # what the route needs and reads.
    errors: tuple[str, ...]
    # A status of success besides the route's own, with the same answer.
    also_status: int
    # Whether it takes If-Match.
    if_match: bool
    # Whether it takes the headers of Standard Webhooks, and a body that need not be JSON.
    standard_webhook: bool


@dataclass(frozen=True, slots=True)
class Route:
    """One method of one path.

    `needs` is None for a public route, whose function takes a `PublicCall` instead of a `Call`.
    The first variable of `path` names the row whose workspace decides. `status` is that of
    success; a function that returns None answers without a body.
    """

    method: str
    path: str
    needs: Needs | None
    body: type[BaseModel] | None
    status: int
    function: Callable[[Any], Any]
    contract: Contract

    @property
    def rule(self) -> str:
        """The path as the resolver writes it: `/automations/<automationId>`."""
        return _VARIABLE.sub(r"<\1>", self.path)

    @property
    def variables(self) -> list[str]:
        """The names of the path's variables, from left to right."""
        return _VARIABLE.findall(self.path)

    def fits(self, path: str) -> bool:
        """Tell whether a request's path is this route's, whatever the method."""
        wanted, found = self.path.split("/"), path.split("/")
        return len(wanted) == len(found) and all(
            part == given or (given and _VARIABLE.fullmatch(part))
            for part, given in zip(wanted, found, strict=True)
        )


ROUTES: Final[list[Route]] = []


def route(
    method: str,
    path: str,
    *,
    needs: Needs,
    body: type[BaseModel] | None = None,
    status: int = 200,
    **contract: Unpack[Contract],
) -> Callable[[Function], Function]:
    """Enter the decorated function into the table, below `API_BASE`."""
    return _enter(
        lambda function: Route(method, API_BASE + path, needs, body, status, function, contract)
    )


def public_route(
    method: str, path: str, *, status: int = 200, **contract: Unpack[Contract]
) -> Callable[[Function], Function]:
    """Enter the decorated function into the table as open to everybody, at the root."""
    return _enter(lambda function: Route(method, path, None, None, status, function, contract))


def methods_of(path: str) -> list[str]:
    """Return the methods that a request's path knows, in alphabetical order; none if unknown."""
    return sorted({entry.method for entry in ROUTES if entry.fits(path)})


def _enter(row: Callable[[Callable[..., Any]], Route]) -> Callable[[Function], Function]:
    def enter(function: Function) -> Function:
        ROUTES.append(row(function))
        return function

    return enter
