"""Numbers every durable effect of a process, and lets the fault of the plan happen at one of them.

Durable effects are each COMMIT, each send to AWS and each call of an outside action. They are
wrapped from the outside: the product knows nothing of this module.
"""

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import botocore.client
import pg8000.dbapi
from botocore.exceptions import EndpointConnectionError
from pg8000.exceptions import InterfaceError

from whenthen.settings import load_settings
from whenthen.store.connection import Database
from whenthen.store.pipelined import PipelinedConnection

Answer = TypeVar("Answer")
SENDS = ("SendMessageBatch", "PutRecords")
# What can happen at a point, by its kind.
FAULTS = {
    "commit": ("kill_before", "kill_after", "cut_before", "cut_after"),
    "call": ("kill_before", "kill_after"),
    **dict.fromkeys(SENDS, ("kill_before", "kill_after", "fail", "reject")),
}
_SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}


@dataclass(frozen=True)
class Fault:
    """What happens at the point `at`, counted from 0: such as `kill_before`.

    It is the `nth` of its kind, also from 0, and that is what it is known by: runs in threads of
    their own reach their points in one order or another, and each kind has faults of its own.
    """

    at: int
    kind: str
    action: str
    nth: int


def at_each(points: Sequence[str], actions: Callable[[str], Sequence[str]]) -> list[Fault]:
    """Return, for every point, the faults that `actions` has for its kind."""
    return [
        Fault(at, kind, action, list(points[:at]).count(kind))
        for at, kind in enumerate(points)
        for action in actions(kind)
    ]


class Points:
    """The points of this process; each is reported as it is reached."""

    def __init__(self, fault: Fault | None, report: Callable[[str], None]) -> None:
        self._fault = fault
        self._report = report
        self._lock = threading.Lock()
        self._reached: Counter[str] = Counter()

    def pass_through(
        self, kind: str, act: Callable[[], Answer], cut: Callable[[], None] = lambda: None
    ) -> Answer:
        """Return what `act` returns, with the plan's fault before or after it if it is this one."""
        with self._lock:
            nth = self._reached[kind]
            self._reached[kind] += 1
        self._report(kind)
        fault = self._fault
        action = fault.action if fault and (fault.kind, fault.nth) == (kind, nth) else ""
        name, _, when = action.partition("_")
        if when == "before":
            self._happen(name, cut)
        answer = act()
        if when == "after":
            self._happen(name, cut)
            if name == "cut":
                raise InterfaceError("network error: cut after the commit")
        return answer

    def sends_fail(self, operation: str) -> str:
        """Return `fail` or `reject` if sends by `operation` are to go wrong from here on."""
        fault = self._fault
        if fault is None or fault.kind != operation or self._reached[operation] < fault.nth:
            return ""
        return fault.action if fault.action in {"fail", "reject"} else ""

    @staticmethod
    def _happen(name: str, cut: Callable[[], None]) -> None:
        if name == "cut":
            cut()
        else:
            os.kill(os.getpid(), _SIGNALS[name])


def instrument(points: Points) -> None:
    """Lead every commit and every send of this process through `points`."""
    _instrument_commits(points)
    _instrument_sends(points)


def _instrument_commits(points: Points) -> None:
    for name in ("execute_unnamed", "execute_simple"):
        original = getattr(PipelinedConnection, name)
        setattr(PipelinedConnection, name, _watched(points, original))


def _watched(points: Points, original: Callable[..., Any]) -> Callable[..., Any]:
    def execute(self: PipelinedConnection, statement: str, *rest: Any, **named: Any) -> Any:
        def act() -> Any:
            return original(self, statement, *rest, **named)

        if statement != "commit":
            return act()
        return points.pass_through("commit", act, lambda: _terminate(self))

    return execute


def _terminate(connection: PipelinedConnection) -> None:
    """End the server's side of `connection`, from another connection, and wait until it is gone."""
    arguments = Database(load_settings(os.environ), lambda: ("postgres", None))._arguments()
    backend = int.from_bytes(connection._backend_key_data[:4], "big")
    killer = pg8000.dbapi.Connection(**arguments)
    killer.autocommit = True
    killer.cursor().execute("select pg_terminate_backend(%s, 5000)", (backend,))
    killer.close()


def _instrument_sends(points: Points) -> None:
    # botocore has no typed door for every call of every client.
    base: Any = botocore.client.BaseClient
    original = base._make_api_call

    def call(self: Any, operation: str, parameters: dict[str, Any]) -> Any:
        if operation not in SENDS:
            return original(self, operation, parameters)
        match points.sends_fail(operation):
            case "fail":
                return points.pass_through(operation, _unreachable)
            case "reject":
                return points.pass_through(
                    operation, lambda: _reject_last(original, self, operation, parameters)
                )
            case _:
                return points.pass_through(operation, lambda: original(self, operation, parameters))

    base._make_api_call = call


def _unreachable() -> Any:
    raise EndpointConnectionError(endpoint_url="https://unreachable.example.com")


def _reject_last(
    original: Callable[..., Any], client: Any, operation: str, parameters: dict[str, Any]
) -> dict[str, Any]:
    """Send all entries but the last, which the answer names as failed: a 200 with a loss inside."""
    key = "Entries" if operation == "SendMessageBatch" else "Records"
    entries: Sequence[Any] = parameters[key]
    answer: dict[str, Any] = {"Records": []}
    if entries[:-1]:
        answer = original(client, operation, {**parameters, key: entries[:-1]})
    if operation == "SendMessageBatch":
        answer["Failed"] = [{"Id": entries[-1]["Id"], "Code": "InternalError"}]
    else:
        answer["Records"].append({"ErrorCode": "ProvisionedThroughputExceededException"})
    return answer
