"""The table of routes: what each one needs, reads and answers, beside the function that does it.

Nothing here knows the web framework, so that the OpenAPI document, the permission matrix and the
resolver walk one and the same table.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from whenthen.domain.rules.permissions import Needs

API_BASE: Final = "/api/v1"
_VARIABLE: Final = re.compile(r"\{(\w+)\}")

Function = TypeVar("Function", bound=Callable[..., Any])


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

    @property
    def rule(self) -> str:
        """The path as the resolver writes it: `/automations/<automationId>`."""
        return _VARIABLE.sub(r"<\1>", self.path)

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
) -> Callable[[Function], Function]:
    """Enter the decorated function into the table, below `API_BASE`."""
    return _enter(method, API_BASE + path, needs, body, status)


def public_route(method: str, path: str, *, status: int = 200) -> Callable[[Function], Function]:
    """Enter the decorated function into the table as open to everybody, at the root."""
    return _enter(method, path, None, None, status)


def methods_of(path: str) -> list[str]:
    """Return the methods that a request's path knows, in alphabetical order; none if unknown."""
    return sorted({entry.method for entry in ROUTES if entry.fits(path)})


def _enter(
    method: str, path: str, needs: Needs | None, body: type[BaseModel] | None, status: int
) -> Callable[[Function], Function]:
    def enter(function: Function) -> Function:
        ROUTES.append(Route(method, path, needs, body, status, function))
        return function

    return enter
