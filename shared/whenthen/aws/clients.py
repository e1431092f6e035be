"""Makes boto3 clients, each with deadlines; boto3 is imported when the first one is made."""

from typing import Any

CONNECT_TIMEOUT_S = 3
READ_TIMEOUT_S = 10


def make_client(service: str, *, attempts: int = 3, read_timeout_s: float = READ_TIMEOUT_S) -> Any:
    """Return a client of the AWS `service`, its calls bounded in time and number.

    `attempts` counts the first try. Clients that carry out actions pass 1: their retries are the
    run's own attempts, visible in its row.
    """
    import boto3  # noqa: PLC0415  # 275 ms: paid by the first call, not by every cold start
    from botocore.config import Config  # noqa: PLC0415

    # boto3 knows the name of a service only at run time; so does its typing.
    session: Any = boto3.session.Session()
    return session.client(
        service,
        config=Config(
            connect_timeout=CONNECT_TIMEOUT_S,
            read_timeout=read_timeout_s,
            retries={"total_max_attempts": attempts, "mode": "standard"},
        ),
    )


def aws_errors() -> tuple[type[Exception], ...]:
    """Return what a boto3 call raises: refused by the service, or never answered."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    return (ClientError, BotoCoreError)
