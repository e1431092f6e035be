"""The door to SES: hands over one finished message."""

from typing import Final

from whenthen.aws.action_calls import Refusals, answer_of
from whenthen.aws.clients import ActionClient, action_client

_REFUSALS: Final = Refusals(
    "EMAIL_REJECTED",
    told=frozenset(
        {"BadRequestException", "MailFromDomainNotVerifiedException", "MessageRejected"}
    ),
)


def send_email(
    message: bytes, sender: str, timeout_s: float, client: ActionClient = action_client
) -> str:
    """Send `message` to the recipients in its own headers; return the id that SES gives it.

    SES puts that id in place of the message's own `Message-ID`, and its own time for `Date`.

    Raises:
        WhenthenError: as `answer_of` says, a refusal being EMAIL_REJECTED.

    """
    answer = answer_of(
        lambda: client("sesv2", timeout_s).send_email(
            FromEmailAddress=sender, Content={"Raw": {"Data": message}}
        ),
        _REFUSALS,
    )
    return str(answer["MessageId"])
