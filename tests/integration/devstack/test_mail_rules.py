"""Every mail that the emulated SES takes is kept, as it was sent."""

from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from devstack.emulated_aws import EmulatedAws
from devstack.mail_rules import keep_mails

SENDER = "bot@whenthen.example"
MAIL = (
    f"From: {SENDER}\r\nTo: ada@example.com\r\nSubject: =?utf-8?q?Gr=C3=B6=C3=9Fe?=\r\n\r\nHi\r\n"
).encode()


def send(aws: EmulatedAws, sender: str) -> Any:
    return aws.client("sesv2").send_email(FromEmailAddress=sender, Content={"Raw": {"Data": MAIL}})


@pytest.mark.usefixtures("aws")
def test_a_mail_is_kept_as_a_file_named_by_its_id(aws: EmulatedAws, tmp_path: Path) -> None:
    folder = tmp_path / "mail"
    keep_mails(folder)
    aws.verify_sender(SENDER)
    ids = [send(aws, SENDER)["MessageId"] for _ in range(2)]
    kept = sorted(folder.iterdir())
    assert [path.name.partition("-")[2] for path in kept] == [f"{id_}.eml" for id_ in ids]
    assert [path.read_bytes() for path in kept] == [MAIL, MAIL]


@pytest.mark.usefixtures("aws")
def test_a_mail_that_is_refused_is_not_kept(aws: EmulatedAws, tmp_path: Path) -> None:
    keep_mails(tmp_path)
    with pytest.raises(ClientError, match="MessageRejected"):
        send(aws, "else@where.example")
    assert list(tmp_path.iterdir()) == []
