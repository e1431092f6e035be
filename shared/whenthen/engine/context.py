"""What a process has at hand: its settings and its doors, each opened on first use."""

from functools import cached_property

from whenthen.aws.database_secret import read_credentials
from whenthen.aws.event_stream import EventStream
from whenthen.aws.metrics import Metrics
from whenthen.aws.notice_queue import NoticeQueue
from whenthen.aws.run_queue import RunQueue
from whenthen.aws.secrets_key import SecretsKey
from whenthen.domain.errors import UnavailableError
from whenthen.settings import Settings, SettingsError
from whenthen.store.connection import Database


class Context:
    """Built once per process by the composition root and handed to every use case."""

    def __init__(self, settings: Settings, service: str) -> None:
        self.settings = settings
        self.metrics = Metrics(settings.metrics_namespace, service)

    @cached_property
    def database(self) -> Database:
        return self.open_database(self.settings.database_answer_s)

    def open_database(self, answer_within_s: float) -> Database:
        """Return a pool of its own, whose statements may take that long; the caller closes it."""
        return Database(
            self.settings,
            lambda: read_credentials(self.settings.database_secret_arn or ""),
            answer_within_s=answer_within_s,
        )

    @cached_property
    def run_queue(self) -> RunQueue:
        return RunQueue(_needed(self.settings.run_queue_url, "RUN_QUEUE_URL"))

    @cached_property
    def notice_queue(self) -> NoticeQueue:
        return NoticeQueue(_needed(self.settings.notice_queue_url, "NOTICE_QUEUE_URL"))

    @cached_property
    def event_stream(self) -> EventStream:
        return EventStream(_needed(self.settings.event_stream, "EVENT_STREAM_NAME"))

    @cached_property
    def secrets_key(self) -> SecretsKey:
        """The key of workspace secrets.

        Raises:
            UnavailableError: this deployment has none.

        """
        if self.settings.secrets_key_arn is None:
            raise UnavailableError("secrets are not set up: SECRETS_KEY_ARN is missing")
        return SecretsKey(self.settings.secrets_key_arn)


def _needed(value: str | None, name: str) -> str:
    if value is None:
        raise SettingsError(f"set {name}")
    return value
