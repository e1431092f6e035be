"""The composition root: the one place that reads the environment and builds a process's context."""

import logging
import os
from functools import cache

from whenthen.engine.context import Context
from whenthen.engine.log_redaction import RedactingFormatter
from whenthen.settings import load_settings

# What they write at DEBUG has headers and answers in it, the KMS key's answers too; the runtime's
# own handler would write it, whatever the level of our own lines.
_TALKATIVE = ("boto3", "botocore", "httpcore", "httpx", "urllib3")


@cache
def process_context(service: str) -> Context:
    """Return this process's context, built at its first use; `service` names the function.

    Raises:
        SettingsError: the environment lacks a setting or contradicts itself.

    """
    settings = load_settings(os.environ)
    configure_logging(service, settings.log_level)
    return Context(settings, service)


def configure_logging(service: str, level: str) -> None:
    """Make every logger of the engine write one JSON object a line to standard error or output.

    The Lambda runtime's own handler would write each line a second time, so nothing propagates.
    """
    from aws_lambda_powertools.logging.formatter import (  # noqa: PLC0415  # import budget
        LambdaPowertoolsFormatter,
    )

    handler = logging.StreamHandler()
    handler.setFormatter(RedactingFormatter(LambdaPowertoolsFormatter(service=service)))
    logger = logging.getLogger("whenthen")
    logger.handlers = [handler]
    logger.setLevel(level)
    logger.propagate = False
    for library in _TALKATIVE:
        logging.getLogger(library).setLevel(logging.WARNING)
