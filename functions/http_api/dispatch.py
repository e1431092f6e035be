"""From a route's entry to its answer: who asks, may they, what do they send, one transaction."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import UUID

from http_api.idempotency import Answer, answer_once, key_in, keyed_request
from http_api.identity import credential_of
from http_api.request import Request, json_body
from whenthen.domain.errors import RequestError
from whenthen.domain.ids import parse_id
from whenthen.domain.rules.text_hygiene import clean
from whenthen.domain.schemas import problems
from whenthen.engine.identify import Caller, authenticate, authorize
from whenthen.engine.limit_requests import limit_requests
from whenthen.engine.loop_headers import cause_of

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from http_api.routing import Route
    from whenthen.domain.rules.permissions import Needs
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

    context: "Context"
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


def carry_out(context: "Context", entry: "Route", request: Request) -> Answer:
    """Return what the route's function answers, its writes committed and its effects done.

    A function returns a body, or an `Answer` where its status is not always the route's.
    The order of refusals: credential, allowance, row and permission, body, and then the function's
    own. With an Idempotency-Key, a second request returns the first one's answer instead.

    Raises:
        RequestError: the request is refused; nothing was written but, perhaps, the refusal itself.
        RepeatedRefusalError: it was refused before, under the same key.

    """
    if entry.needs is None:
        return _as_answer(entry, entry.function(PublicCall(context, request)))
    effects: list[Effect] = []
    outcome = _transact(context, entry, entry.needs, request, effects)
    if isinstance(outcome, RequestError):
        raise outcome
    for effect in effects:
        effect(context)
    return outcome


def _transact(
    context: "Context", entry: "Route", needs: "Needs", request: Request, effects: list[Effect]
) -> Answer | RequestError:
    credential = credential_of(context.settings, request.headers)
    limit_requests(context, credential)
    subject_id = _subject_id(request)
    base_url = context.settings.public_url or f"https://{request.domain}"

    def work(connection: "Connection") -> Answer | RequestError:
        standing = authenticate(connection, credential, needs.subject, subject_id)

        def answer() -> Answer:
            caller = authorize(standing, needs)
            cause = cause_of(connection, request.headers, caller.workspace)
            caller = replace(caller, cause=cause)
            body, sanitized = _read_body(entry, request)
            call = Call(context, connection, caller, request, body, sanitized, base_url, effects)
            return _as_answer(entry, entry.function(call))

        key = key_in(request.headers) if entry.method == "POST" else None
        if key is None:
            return answer()
        path = entry.path.format(**request.variables)
        keyed = keyed_request(standing.user_id, path, key, request.raw_body())
        return answer_once(connection, keyed, answer, lambda: authorize(standing, needs))

    return context.database.transact(work)


def _as_answer(entry: "Route", returned: Any) -> Answer:
    return returned if isinstance(returned, Answer) else Answer(entry.status, returned)


def _read_body(entry: "Route", request: Request) -> tuple[Any, bool]:
    if entry.body is None:
        return None, False
    value, sanitized = clean(json_body(request))
    return problems.read(entry.body, value), sanitized


def _subject_id(request: Request) -> UUID | None:
    """Return the id of the row that decides: the first of the path, or None."""
    first = next(iter(request.variables.values()), None)
    return None if first is None else parse_id(first)
