"""Makes boto3 clients, each with deadlines; boto3 is imported when the first one is made."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

CONNECT_TIMEOUT_S = 3
READ_TIMEOUT_S = 10
# An action's call ends this much before the action's own deadline: making the first client takes
# time too, and a thread past its deadline costs the whole process.
_ACTION_MARGIN_S = 1

# Returns a client of a service whose one call takes no longer than so many seconds.
ActionClient = Callable[[str, float], Any]


def make_client(
    service: str,
    *,
    attempts: int = 3,
    connect_timeout_s: float = CONNECT_TIMEOUT_S,
    read_timeout_s: float = READ_TIMEOUT_S,
    checks_parameters: bool = True,
) -> Any:
    """Return a client of the AWS `service`, its calls bounded in time and number.

    `attempts` counts the first try. Clients that carry out actions pass 1: their retries are the
    run's own attempts, visible in its row. Without `checks_parameters` botocore does not hold a
    call's parameters against the service's model first: an eighth of what a call costs.
    """
    import boto3  # noqa: PLC0415  # 275 ms: paid by the first call, not by every cold start
    from botocore.config import Config  # noqa: PLC0415

    # boto3 knows the name of a service only at run time; so does its typing.
    session: Any = boto3.session.Session()
    return session.client(
        service,
        config=Config(
            connect_timeout=connect_timeout_s,
            read_timeout=read_timeout_s,
            retries={"total_max_attempts": attempts, "mode": "standard"},
            # Else botocore spells its own name anew twice per call: a third of what a call costs.
            user_agent="whenthen",
            parameter_validation=checks_parameters,
        ),
    )


def action_client(service: str, timeout_s: float) -> Any:
    """Return a client for actions that may take `timeout_s`: it tries once, and ends in time."""
    # What is left of a timeout is never the same twice; a client for each would cost a connection
    # and 100 ms of CPU each. What rounding adds is a quarter of the margin of a second's timeout.
    return kept_client(service, max(round(timeout_s * 8), 1) / 8)


# Most actions keep the default timeout, so few clients serve all of them.
@lru_cache(maxsize=16)
def kept_client(service: str, timeout_s: float) -> Any:
    """Return the one client of the process for such actions."""
    connect_timeout_s = min(CONNECT_TIMEOUT_S, timeout_s / 4)
    margin_s = min(_ACTION_MARGIN_S, timeout_s / 4)
    return make_client(
        service,
        attempts=1,
        connect_timeout_s=connect_timeout_s,
        read_timeout_s=timeout_s - connect_timeout_s - margin_s,
    )


def aws_errors() -> tuple[type[Exception], ...]:
    """Return what a boto3 call raises: refused by the service, or never answered."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    return (ClientError, BotoCoreError)
