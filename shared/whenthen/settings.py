"""All settings of a process, read once from its environment into one frozen value.

Every setting is documented in docs/configuration.md; a contract test keeps the two and the
template in step.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from whenthen.domain import limits
from whenthen.domain.rules.mail_address import mailbox
from whenthen.domain.rules.secure_url import is_secure_url


class SettingsError(ValueError):
    """Raised when the environment lacks a needed setting or two settings contradict each other."""


# Every numeric setting: its default and its range, both ends included.
NUMBERS: Final[Mapping[str, tuple[int, int, int]]] = {
    "DATABASE_PORT": (5_432, 1, 65_535),
    "DATABASE_POOL_SIZE": (5, 1, 100),
    "DATABASE_ANSWER_S": (40, 5, 900),
    "AUTO_RUN_MAX_RETRIES": (limits.MAX_RETRIES_DEFAULT, 1, 1_000),
    "AUTOMATION_MAX_DEPTH": (limits.MAX_DEPTH_DEFAULT, 1, 100),
    "AUTOMATIONS_WORKER_CONCURRENCY": (
        limits.WORKER_CONCURRENCY_DEFAULT,
        1,
        limits.QUEUE_BATCH_MAX,
    ),
    # Read by the migrator alone: what the template gives the run queue's mapping.
    "EXECUTOR_MAXIMUM_CONCURRENCY": (10, 2, 1_000),
    "AUTOMATION_MAX_RUNS_PER_MINUTE": (limits.RUNS_PER_MINUTE_DEFAULT, 1, 1_000_000),
    "AUTOMATION_MAX_CHAINED_RUNS_PER_DAY": (
        limits.CHAINED_RUNS_PER_DAY_DEFAULT,
        1,
        1_000_000_000,
    ),
    # RFC 6409: the port of mail submission.
    "SMTP_PORT": (587, 1, 65_535),
    # 0: no limit.
    "API_REQUESTS_PER_MINUTE": (0, 0, 1_000_000),
    # More than the stream keeps its records: a replay must still find the runs it made.
    "RETENTION_DAYS": (limits.RETENTION_DAYS_DEFAULT, 8, 3_650),
}


# How a connection to the mail server is protected: from the first byte, after STARTTLS, not at all.
SMTP_SECURITY: Final = ("starttls", "tls", "none")


@dataclass(frozen=True, slots=True)
class Settings:
    """The environment of one function, checked."""

    # Where Postgres is: a URL with everything in it, or host, name and a secret with the rest.
    database_url: str | None
    database_host: str | None
    database_port: int
    database_name: str
    database_secret_arn: str | None
    database_ssl: bool
    # Connections that this process may hold at once.
    database_pool_size: int
    # Seconds after which a statement's answer is given up: less than who waits for ours has.
    database_answer_s: int
    # Whether the server keeps hot statements parsed; off behind a proxy that shares its sessions.
    database_prepare: bool

    event_stream: str | None
    run_queue_url: str | None
    notice_queue_url: str | None
    public_url: str | None
    # The KMS key of workspace secrets.
    secrets_key_arn: str | None
    # Whose JWTs are credentials, and for which audience; both or neither.
    oidc_issuer: str | None
    oidc_audience: str | None
    # As which client of the issuer the console signs people in.
    oidc_client_id: str | None
    # Per credential; 0 for no limit.
    api_requests_per_minute: int

    max_retries: int
    max_depth: int
    worker_concurrency: int
    # Workers at once, by which the migrator judges whether the database has enough connections.
    executor_maximum_concurrency: int
    # An automation's runs of depth >= 1 or by webhook: delayed above so many a minute, and above
    # so many a day the automation is paused.
    runs_per_minute: int
    chained_runs_per_day: int
    retention_days: int
    # Whether a tick's event may say what time it is: for trying schedules out, never in production.
    accept_tick_now: bool
    # Hosts that webhooks may call wherever they lead: lower case, IPv6 without brackets.
    webhook_allow_hosts: frozenset[str]
    # Who mails are from; None: this deployment sends none. By SES, unless there is an SMTP server.
    mail_from: str | None
    smtp_host: str | None
    smtp_port: int
    # One of SMTP_SECURITY.
    smtp_security: str
    smtp_secret_arn: str | None
    # The model that AI_GENERATE asks where its action names none.
    bedrock_model_id: str | None

    log_level: str
    metrics_namespace: str


def load_settings(environ: Mapping[str, str]) -> Settings:
    """Return the settings that `environ` (name → text) holds.

    Raises:
        SettingsError: a number is unreadable or out of range, or the database is not named.
    """
    settings = Settings(
        database_url=environ.get("DATABASE_URL") or None,
        database_host=environ.get("DATABASE_HOST") or None,
        database_port=_number(environ, "DATABASE_PORT"),
        database_name=environ.get("DATABASE_NAME") or "whenthen",
        database_secret_arn=environ.get("DATABASE_SECRET_ARN") or None,
        database_ssl=_flag(environ, "DATABASE_SSL", default=True),
        database_pool_size=_number(environ, "DATABASE_POOL_SIZE"),
        database_answer_s=_number(environ, "DATABASE_ANSWER_S"),
        database_prepare=_flag(environ, "DATABASE_PREPARE", default=True),
        event_stream=environ.get("EVENT_STREAM_NAME") or None,
        run_queue_url=environ.get("RUN_QUEUE_URL") or None,
        notice_queue_url=environ.get("NOTICE_QUEUE_URL") or None,
        public_url=(environ.get("PUBLIC_URL") or "").rstrip("/") or None,
        secrets_key_arn=environ.get("SECRETS_KEY_ARN") or None,
        oidc_issuer=environ.get("OIDC_ISSUER") or None,
        oidc_audience=environ.get("OIDC_AUDIENCE") or None,
        oidc_client_id=environ.get("OIDC_CLIENT_ID") or None,
        api_requests_per_minute=_number(environ, "API_REQUESTS_PER_MINUTE"),
        max_retries=_number(environ, "AUTO_RUN_MAX_RETRIES"),
        max_depth=_number(environ, "AUTOMATION_MAX_DEPTH"),
        worker_concurrency=_number(environ, "AUTOMATIONS_WORKER_CONCURRENCY"),
        executor_maximum_concurrency=_number(environ, "EXECUTOR_MAXIMUM_CONCURRENCY"),
        runs_per_minute=_number(environ, "AUTOMATION_MAX_RUNS_PER_MINUTE"),
        chained_runs_per_day=_number(environ, "AUTOMATION_MAX_CHAINED_RUNS_PER_DAY"),
        retention_days=_number(environ, "RETENTION_DAYS"),
        accept_tick_now=_flag(environ, "ACCEPT_TICK_NOW", default=False),
        webhook_allow_hosts=_hosts(environ, "WEBHOOK_ALLOW_HOSTS"),
        mail_from=environ.get("MAIL_FROM") or None,
        smtp_host=environ.get("SMTP_HOST") or None,
        smtp_port=_number(environ, "SMTP_PORT"),
        smtp_security=environ.get("SMTP_SECURITY") or SMTP_SECURITY[0],
        smtp_secret_arn=environ.get("SMTP_SECRET_ARN") or None,
        bedrock_model_id=environ.get("BEDROCK_MODEL_ID") or None,
        log_level=environ.get("POWERTOOLS_LOG_LEVEL") or "INFO",
        metrics_namespace=environ.get("POWERTOOLS_METRICS_NAMESPACE") or "whenthen",
    )
    _check(settings, environ)
    return settings


def _check(settings: Settings, environ: Mapping[str, str]) -> None:
    _check_database(settings)
    _check_worker(settings, environ)
    _check_oidc(settings)
    _check_mail(settings)


def _check_database(settings: Settings) -> None:
    by_parts = settings.database_host is not None and settings.database_secret_arn is not None
    if settings.database_url is None and not by_parts:
        raise SettingsError("set DATABASE_URL, or DATABASE_HOST with DATABASE_SECRET_ARN")


def _check_worker(settings: Settings, environ: Mapping[str, str]) -> None:
    works = "AUTOMATIONS_WORKER_CONCURRENCY" in environ
    if works and settings.database_pool_size < settings.worker_concurrency:
        # Each run of a worker's batch may hold a connection at the same time.
        raise SettingsError("DATABASE_POOL_SIZE must be at least AUTOMATIONS_WORKER_CONCURRENCY")


def _check_oidc(settings: Settings) -> None:
    if (settings.oidc_issuer is None) != (settings.oidc_audience is None):
        raise SettingsError("set OIDC_ISSUER and OIDC_AUDIENCE, or neither")
    if settings.oidc_issuer is not None and not is_secure_url(settings.oidc_issuer):
        raise SettingsError("OIDC_ISSUER must be an https URL")
    if settings.oidc_client_id is not None and settings.oidc_issuer is None:
        raise SettingsError("OIDC_CLIENT_ID needs OIDC_ISSUER")


def _check_mail(settings: Settings) -> None:
    if settings.mail_from is not None and mailbox(settings.mail_from) != settings.mail_from:
        raise SettingsError("MAIL_FROM must be an e-mail address in ASCII, without a name")
    if settings.smtp_security not in SMTP_SECURITY:
        raise SettingsError(f"SMTP_SECURITY must be one of {', '.join(SMTP_SECURITY)}")
    if settings.smtp_secret_arn is not None and settings.smtp_security == "none":
        raise SettingsError("SMTP_SECURITY none would show the password of SMTP_SECRET_ARN")


def _number(environ: Mapping[str, str], name: str) -> int:
    default, low, high = NUMBERS[name]
    text = environ.get(name)
    if not text:
        return default
    if not (text.isascii() and text.isdigit()):
        raise SettingsError(f"{name} must be a whole number")
    value = int(text)
    if not low <= value <= high:
        raise SettingsError(f"{name} must lie within {low}..{high}")
    return value


def _flag(environ: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = environ.get(name, "").lower()
    if text in {"", "true", "false"}:
        return text == "true" if text else default
    raise SettingsError(f"{name} must be true or false")


def _hosts(environ: Mapping[str, str], name: str) -> frozenset[str]:
    entries = (entry.strip().lower() for entry in environ.get(name, "").split(","))
    hosts = frozenset(entry.strip("[]") for entry in entries if entry)
    # One colon is a port's; an IPv6 address has two or more, and a bracket left is before a port.
    if any(host.count(":") == 1 or set(host) & set("/[] ") for host in hosts):
        raise SettingsError(f"{name} must be host names or addresses, without scheme and port")
    return hosts
