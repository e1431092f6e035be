"""From a route's entry to its answer: who asks, may they, what do they send, one transaction."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import UUID

from http_api.identity import bearer_token
from http_api.request import Request, json_body
from whenthen.domain.ids import parse_id
from whenthen.domain.rules.text_hygiene import clean
from whenthen.domain.schemas import problems
from whenthen.engine.identify import Caller, identify

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from http_api.routing import Route
    from whenthen.engine.context import Context

Body = TypeVar("Body")
Effect = Callable[["Context"], object]


@dataclass(frozen=True, slots=True)
class PublicCall:
    """What a public route works with."""

    context: "Context"
    request: Request


@dataclass(frozen=True, slots=True)
class Call(Generic[Body]):
    """What a route works with, inside the request's one transaction."""

    connection: "Connection"
    caller: Caller
    request: Request
    body: Body
    # The body held characters that cannot be stored; they have been replaced.
    sanitized: bool
    # Of links to this deployment, without a slash at its end.
    base_url: str
    effects: list[Effect] = field(default_factory=list)

    def path_id(self, name: str) -> UUID:
        return self.request.path_id(name)

    def after_commit(self, effect: Effect) -> None:
        """Have `effect` carried out once the transaction is durable."""
        self.effects.append(effect)


def carry_out(context: "Context", entry: "Route", request: Request) -> Any:
    """Return what the route's function returns, its writes committed and its effects done.

    The order of refusals: credential, row and permission, body, and then the function's own.

    Raises:
        RequestError: the request is refused; nothing was written.

    """
    needs = entry.needs
    if needs is None:
        return entry.function(PublicCall(context, request))
    token = bearer_token(request.headers)
    subject_id = _subject_id(request)
    base_url = context.settings.public_url or f"https://{request.domain}"
    effects: list[Effect] = []

    def work(connection: "Connection") -> Any:
        caller = identify(connection, token, needs, subject_id)
        body, sanitized = _read_body(entry, request)
        return entry.function(Call(connection, caller, request, body, sanitized, base_url, effects))

    answer = context.database.transact(work)
    for effect in effects:
        effect(context)
    return answer


def _read_body(entry: "Route", request: Request) -> tuple[Any, bool]:
    if entry.body is None:
        return None, False
    value, sanitized = clean(json_body(request))
    return problems.read(entry.body, value), sanitized


def _subject_id(request: Request) -> UUID | None:
    """Return the id of the row that decides: the first of the path, or None."""
    first = next(iter(request.variables.values()), None)
    return None if first is None else parse_id(first)
