"""SEND_EMAIL: what is mailed by SES and by SMTP, to whom, and what is refused."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from moto import mock_aws
from moto.ses.models import ses_backends

from devstack.emulated_aws import ACCOUNT_ID
from tests.integration.certificates import Certificates
from tests.integration.mail_servers import HOST, Mailroom, mailroom, network, parsed
from tests.integration.step_requests import step_request
from tests.integration.stubbed_clients import gives, stubbed
from whenthen.actions.mailing import Ways
from whenthen.actions.requests import StepRequest
from whenthen.actions.send_email import perform
from whenthen.aws.clients import ActionClient
from whenthen.domain.errors import ActionTimeoutError, FatalError, RetryableError
from whenthen.domain.rules.classify import classify_error

SENDER = "bot@whenthen.example"


def mail(timeout_s: float = 10, /, settings: dict[str, str] | None = None, **config: Any) -> Any:
    content = {"to": ["ada@example.com"], "subject": "Hi", "text": "Hello"} | config
    filled = {key: value for key, value in content.items() if value is not ...}
    return step_request(filled, timeout_s, **{"MAIL_FROM": SENDER, **(settings or {})})


def by_smtp(room: Mailroom, **config: Any) -> StepRequest:
    settings = {"SMTP_HOST": HOST, "SMTP_PORT": str(room.port), "SMTP_SECURITY": "none"}
    return mail(settings=settings, **config)  # type: ignore[no-any-return]


def ways(room: Mailroom) -> Ways:
    return Ways(network=network(room.port))


@pytest.fixture
def room() -> Iterator[Mailroom]:
    with mailroom() as room:
        yield room


@pytest.fixture
def ses() -> Iterator[list[Any]]:
    """What the emulated SES has sent."""
    with mock_aws():
        boto3.client("sesv2").create_email_identity(EmailIdentity=SENDER)
        yield ses_backends[ACCOUNT_ID]["eu-west-1"].sent_messages


def message_key(request: StepRequest) -> str:
    return f"msg_{request.run_id}_0_{request.action_id}"


# ------------------------------------------------------------------------------ what is mailed


def test_ses_sends_the_mail_and_its_id_is_the_output(ses: list[Any]) -> None:
    request = mail(
        to=["ada@example.com", "bob@example.com"], replyTo="desk@example.com", subject="Größe"
    )
    output = perform(request).output
    (sent,) = ses
    assert output == {"messageId": sent.id}
    assert (sent.source, sent.destinations) == (SENDER, ["ada@example.com", "bob@example.com"])
    message = parsed(sent.raw_data.encode())
    assert (message["From"], message["To"]) == (SENDER, "ada@example.com, bob@example.com")
    assert (message["Reply-To"], message["Subject"]) == ("desk@example.com", "Größe")
    assert message["X-Whenthen-Id"] == f"<{message_key(request)}>"
    assert message.get_content().strip() == "Hello"


def test_the_same_mail_goes_through_an_smtp_server(room: Mailroom) -> None:
    request = by_smtp(room, to=["ada@example.com", "bob@example.com"])
    output = perform(request, ways(room)).output
    assert output == {"messageId": f"{message_key(request)}@whenthen.example"}
    message = room.the_message()
    assert message["Message-ID"] == f"<{output['messageId']}>"
    assert (room.senders, room.recipients) == ([SENDER], [["ada@example.com", "bob@example.com"]])
    assert (message["Auto-Submitted"], message["Date"] is None) == ("auto-generated", False)


@pytest.mark.parametrize(
    ("config", "types"),
    [
        ({}, ["text/plain"]),
        ({"text": ..., "html": "<p>é</p>"}, ["text/html"]),
        ({"html": "<p>é</p>"}, ["text/plain", "text/html"]),
    ],
    ids=["text", "html", "both"],
)
def test_a_mail_has_the_bodies_that_its_config_has(
    room: Mailroom, config: dict[str, Any], types: list[str]
) -> None:
    perform(by_smtp(room, **config), ways(room))
    parts = [part for part in room.the_message().walk() if not part.is_multipart()]
    assert [part.get_content_type() for part in parts] == types


@pytest.mark.parametrize(
    ("text", "body"),
    [(7, "7"), (None, ""), ({"a": 1}, '{"a":1}'), ("ü" * 5_000, "ü" * 5_000), (".\n..", ".\n..")],
    ids=["number", "null", "object", "long", "dots"],
)
def test_case_078_a_body_that_a_template_gives_is_text_whatever_its_type(
    room: Mailroom, text: Any, body: str
) -> None:
    perform(by_smtp(room, text=text), ways(room))
    assert room.the_message().get_content().replace("\r\n", "\n") == body + "\n"
    assert room.raw[0].isascii()


@pytest.mark.parametrize(
    ("subject", "sent"),
    [
        ("Größe 🎉", "Größe 🎉"),
        ("a\r\nBcc: eve@example.com", "a Bcc: eve@example.com"),
        ("a\nb\rc\x0bd\x0ce\x85f\u2028g\u2029h\0i", "a b c d e f g h i"),
        ("=?utf-8?q?a=0d=0aBcc:_e@x.io?=", "= ?utf-8?q?a=0d=0aBcc:_e@x.io?="),
        ("x" * 2_000, "x" * 998),
        (["a", 1], '["a",1]'),
        ("", ""),
    ],
    ids=["unicode", "CRLF", "breaks", "encoded", "long", "list", "empty"],
)
def test_a_subject_is_one_line_and_no_header_besides(
    room: Mailroom, subject: Any, sent: str
) -> None:
    perform(by_smtp(room, subject=subject), ways(room))
    message = room.the_message()
    assert " ".join(str(message["Subject"]).split()) == sent
    assert message.keys().count("To") == 1
    assert "Bcc" not in message
    assert room.recipients == [["ada@example.com"]]


# --------------------------------------------------------------------------------- recipients


@pytest.mark.parametrize(
    ("to", "sent_to"),
    [
        (["ada@exämple.com"], ["ada@xn--exmple-cua.com"]),
        ([" ada@example.com "], ["ada@example.com"]),
        (["a@x.io", "a@x.io", "b@x.io"], ["a@x.io", "b@x.io"]),
        ([["a@x.io", "b@x.io"], "c@x.io"], ["a@x.io", "b@x.io", "c@x.io"]),
        ([f"u{n}@x.io" for n in range(50)], [f"u{n}@x.io" for n in range(50)]),
    ],
    ids=["IDN", "spaces", "twice", "list of a template", "fifty"],
)
def test_recipients_are_addresses_each_once(
    room: Mailroom, to: list[Any], sent_to: list[str]
) -> None:
    perform(by_smtp(room, to=to), ways(room))
    assert room.recipients == [sent_to]
    assert [str(one) for one in room.the_message()["To"].addresses] == sent_to


@pytest.mark.parametrize(
    ("config", "code", "message"),
    [
        ({"to": ["ada"]}, "EMAIL_REJECTED", "to[0] is no e-mail address"),
        ({"to": ["a@x.io", "a@x.io\r\nBcc: b@x.io"]}, "EMAIL_REJECTED", "to[1] is no e-mail"),
        ({"to": ["a@x.io,b@x.io"]}, "EMAIL_REJECTED", "to[0] is no e-mail address"),
        ({"to": ["Ada <a@x.io>"]}, "EMAIL_REJECTED", "to[0] is no e-mail address"),
        ({"to": ["ädä@x.io"]}, "EMAIL_REJECTED", "to[0] is no e-mail address"),
        ({"to": [7]}, "EMAIL_REJECTED", "to[0] is no e-mail address"),
        ({"to": [[f"u{n}@x.io" for n in range(51)]]}, "EMAIL_REJECTED", "more than 50"),
        ({"replyTo": "nobody"}, "EMAIL_REJECTED", "replyTo is no e-mail address"),
        ({"to": [""]}, "TEMPLATE_MISSING", "to[0] has no value"),
        ({"to": [[]]}, "TEMPLATE_MISSING", "to has no value"),
        ({"to": [["a@x.io", None]]}, "TEMPLATE_MISSING", "to[0] has no value"),
        ({"replyTo": " "}, "TEMPLATE_MISSING", "replyTo has no value"),
    ],
    ids=str,
)
def test_a_mail_to_what_is_no_address_is_refused_before_anything_is_sent(
    room: Mailroom, config: dict[str, Any], code: str, message: str
) -> None:
    with pytest.raises(FatalError) as caught:
        perform(by_smtp(room, **config), ways(room))
    assert caught.value.code == code
    assert message in caught.value.message
    assert room.greeted_as == []


def test_recipients_that_the_server_refuses_are_named_in_the_output(room: Mailroom) -> None:
    room.answers = {"b@x.io": "550 no such user"}
    output = perform(by_smtp(room, to=["a@x.io", "b@x.io"]), ways(room)).output
    assert output["rejected"] == ["b@x.io"]
    assert room.recipients == [["a@x.io"]]


# ------------------------------------------------------------------------------------ refusals


def test_without_a_sender_no_mail_can_be_sent() -> None:
    request = step_request({"to": ["ada@example.com"], "subject": "Hi", "text": "Hello"})
    with pytest.raises(FatalError) as caught:
        perform(request)
    assert caught.value.code == "EMAIL_NOT_CONFIGURED"


def test_a_sender_that_ses_does_not_know_is_refused(ses: list[Any]) -> None:
    with pytest.raises(FatalError) as caught:
        perform(mail(settings={"MAIL_FROM": "else@where.example"}))
    assert caught.value.code == "EMAIL_REJECTED"
    assert "MessageRejected" in caught.value.message
    assert ses == []


def refused(code: str, status: int, message: str = "") -> AbstractContextManager[ActionClient]:
    return stubbed(
        "sesv2",
        lambda stub: stub.add_client_error("send_email", code, message, http_status_code=status),
    )


@pytest.mark.parametrize(
    ("code", "status", "ends_as", "message"),
    [
        ("MessageRejected", 400, "EMAIL_REJECTED", "MessageRejected: because"),
        ("BadRequestException", 400, "EMAIL_REJECTED", "BadRequestException: because"),
        ("AccessDeniedException", 403, "EMAIL_REJECTED", "AccessDeniedException"),
        ("AccountSuspendedException", 400, "EMAIL_REJECTED", "AccountSuspendedException"),
        ("SendingPausedException", 400, "EMAIL_REJECTED", "SendingPausedException"),
        ("NotFoundException", 404, "EMAIL_REJECTED", "NotFoundException"),
    ],
)
def test_a_refusal_of_ses_is_final_and_tells_only_what_concerns_the_mail(
    code: str, status: int, ends_as: str, message: str
) -> None:
    with refused(code, status, "because") as client, pytest.raises(FatalError) as caught:
        perform(mail(), Ways(client=client))
    assert (caught.value.code, caught.value.message) == (ends_as, message)


@pytest.mark.parametrize(
    ("code", "status"),
    [("TooManyRequestsException", 429), ("LimitExceededException", 400), ("InternalFailure", 500)],
)
def test_a_refusal_of_ses_that_passes_is_tried_again(code: str, status: int) -> None:
    with refused(code, status) as client, pytest.raises(ClientError) as caught:
        perform(mail(), Ways(client=client))
    verdict = classify_error(caught.value)
    assert (verdict.retryable, verdict.code) == (True, f"AWS_{code}")


def test_a_service_that_does_not_answer_in_time_is_a_timeout() -> None:
    class Silent:
        def send_email(self, **_: Any) -> Any:
            raise ReadTimeoutError(endpoint_url="https://email.example")

    with pytest.raises(ActionTimeoutError):
        perform(mail(), Ways(client=gives(Silent())))


@pytest.mark.parametrize(
    ("answer", "error", "code"),
    [
        ("554 5.7.1 refused", FatalError, "EMAIL_REJECTED"),
        ("451 4.7.1 greylisted", RetryableError, "EMAIL_RETRIABLE"),
    ],
)
def test_a_refusal_of_the_mail_server_has_its_code(
    room: Mailroom, answer: str, error: Any, code: str
) -> None:
    room.answers = {"DATA": answer}
    with pytest.raises(error) as caught:
        perform(by_smtp(room), ways(room))
    assert (caught.value.code, caught.value.message) == (code, answer)


# ---------------------------------------------------------------------------------- credentials


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"), HOST)


def test_the_mail_servers_password_comes_from_its_secret(certificates: Certificates) -> None:
    with mock_aws(), mailroom(tls_context=certificates.server, require_starttls=True) as room:
        secret_arn = boto3.client("secretsmanager").create_secret(
            Name="smtp", SecretString='{"username": "bot", "password": "right"}'
        )["ARN"]
        settings = {"SMTP_HOST": HOST, "SMTP_SECRET_ARN": secret_arn}
        perform(mail(settings=settings), Ways(network=network(room.port, certificates.client)))
        assert (room.logins, len(room.raw)) == ([("bot", "right")], 1)


def test_a_password_that_cannot_be_read_is_a_deployment_not_set_up(room: Mailroom) -> None:
    with mock_aws():
        settings = {"SMTP_HOST": HOST, "SMTP_SECRET_ARN": "arn:aws:secretsmanager:eu-west-1:1:x"}
        with pytest.raises(FatalError) as caught:
            perform(mail(settings=settings), ways(room))
    assert (caught.value.code, caught.value.message) == (
        "EMAIL_NOT_CONFIGURED",
        "ResourceNotFoundException",
    )
    assert room.greeted_as == []
