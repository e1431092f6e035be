"""Tells people of dead runs, and sees to messages that a queue gave up on (SQS mappings)."""

from typing import Any

from whenthen.domain.schemas.notices import decode
from whenthen.engine.composition import process_context
from whenthen.engine.report_deaths import report_death, take_back_messages


def lambda_handler(event: dict[str, Any], _lambda_context: object) -> dict[str, Any]:
    """Work off one batch of either queue; what holds no notice came from the run queue.

    A second delivery of a notice finds its death announced and changes nothing. Only an
    unreachable database raises, and then the whole batch comes again.
    """
    context = process_context("dlq-notifier")
    bodies = [record["body"] for record in event["Records"]]
    notices = {body: notice for body in bodies if (notice := decode(body)) is not None}
    try:
        in_order = sorted(notices.values(), key=lambda notice: notice.death)
        announced = [one for notice in in_order if (one := report_death(context, notice))]
        others = [body for body in bodies if body not in notices]
        if others:
            take_back_messages(context, others)
        if any(one.addresses for one in announced):
            from whenthen.engine.mail_deaths import mail_deaths  # noqa: PLC0415  # import budget

            # Last, since a mail server may be slow: nothing of the batch waits for it.
            mail_deaths(context, announced)
    finally:
        context.metrics.flush()
    return {"batchItemFailures": []}
