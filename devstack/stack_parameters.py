"""The template parameters and settings that a stack on this machine decides or proposes."""

from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

from devstack.echo_model import MODEL_ID


def database_parameters(database_url: str, secret_arn: str) -> dict[str, str]:
    """Return the parameters that name the database of `database_url`."""
    parts = urlsplit(database_url)
    folder = parse_qs(parts.query).get("host", [""])[0]
    return {
        "DatabaseHost": folder or parts.hostname or "127.0.0.1",
        "DatabasePort": str(parts.port or 5432),
        "DatabaseName": parts.path.removeprefix("/") or "postgres",
        "DatabaseSecretArn": secret_arn,
        "DatabaseSsl": "false",
    }


def dev_defaults(url: str) -> dict[str, str]:
    """Return parameter values that suit a developer's machine better than the template's own."""
    return {
        "PublicUrl": url,
        # A deployment gathers events for a second to save invocations; here nobody pays for them.
        "MatcherBatchingWindow": "0",
        # Schedules can be tried out without waiting for them.
        "AcceptTickNow": "true",
        # What is tried out here listens on this machine.
        "WebhookAllowHosts": "127.0.0.1,localhost",
        "MailFrom": "automations@whenthen.test",
        "BedrockModelId": MODEL_ID,
    }


def overrides(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of `environ` that functions take in place of the template's.

    Of the database only `DATABASE_URL` counts, since the stack decides the rest.
    """
    return {
        name: value
        for name, value in environ.items()
        if name == "DATABASE_URL" or not name.startswith("DATABASE_")
    }
