"""moto's server in this process, with IAM that knows exact ARNs and queues that stay fast."""

import io
import json
import logging
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import boto3
import moto.settings
from botocore.config import Config
from moto.core.config import default_user_config
from moto.server import ThreadedMotoServer

from devstack.echo_model import teach_moto_bedrock
from devstack.iam_rules import teach_moto_iam
from devstack.mail_rules import teach_moto_ses
from devstack.moto_speed import speed_up_moto
from devstack.sqs_rules import teach_moto_sqs
from devstack.stack_template import CODE_BUCKET, CODE_KEY, REGION
from devstack.stream_rules import teach_moto_kinesis

ACCOUNT_ID = "123456789012"
ADMIN = {"aws_access_key_id": "devstack", "aws_secret_access_key": "devstack"}


@dataclass(frozen=True, slots=True)
class EmulatedAws:
    """The running server: where it listens, and how to end it."""

    endpoint: str
    stop: Callable[[], None]

    def client(self, service: str, credentials: Mapping[str, str] | None = None) -> Any:
        """Return a boto3 client; before `enforce_iam` any credentials do."""
        session: Any = boto3.session.Session()
        return session.client(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            config=Config(retries={"total_max_attempts": 1}),
            **(credentials or ADMIN),
        )

    def role_credentials(self, role_arn: str, session: str) -> dict[str, str]:
        """Return the credentials of a role, under the names that boto3's clients take."""
        answer = self.client("sts").assume_role(RoleArn=role_arn, RoleSessionName=session[:64])
        return {
            "aws_access_key_id": answer["Credentials"]["AccessKeyId"],
            "aws_secret_access_key": answer["Credentials"]["SecretAccessKey"],
            "aws_session_token": answer["Credentials"]["SessionToken"],
        }

    def make_secret(self, name: str, value: Mapping[str, str]) -> str:
        """Keep a secret's JSON and return its ARN."""
        answer = self.client("secretsmanager").create_secret(
            Name=name, SecretString=json.dumps(value)
        )
        return str(answer["ARN"])

    def verify_sender(self, address: str) -> None:
        """Let SES take mails from `address`."""
        self.client("sesv2").create_email_identity(EmailIdentity=address)


def start_aws(port: int = 0) -> EmulatedAws:
    """Start moto's server on the loopback interface and return it; IAM does not decide yet."""
    os.environ["MOTO_ACCOUNT_ID"] = ACCOUNT_ID
    default_user_config["lambda"] = {"use_docker": False}
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    speed_up_moto()
    teach_moto_iam()
    teach_moto_sqs()
    teach_moto_kinesis()
    teach_moto_ses()
    teach_moto_bedrock()
    allow_everything()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    server.start()
    host, bound_port = server.get_host_and_port()
    aws = EmulatedAws(f"http://{host}:{bound_port}", server.stop)
    _keep_code(aws)
    return aws


def allow_everything() -> None:
    """Let every call pass, while the stack sets itself up."""
    moto.settings.INITIAL_NO_AUTH_ACTION_COUNT = float("inf")


def enforce_iam() -> None:
    """From now on every call is decided by its credentials' policies."""
    moto.settings.INITIAL_NO_AUTH_ACTION_COUNT = 0.0


def _keep_code(aws: EmulatedAws) -> None:
    # The functions run from this folder; moto only wants to find an archive.
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as content:
        content.writestr("empty", "")
    s3 = aws.client("s3")
    s3.create_bucket(Bucket=CODE_BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    s3.put_object(Bucket=CODE_BUCKET, Key=CODE_KEY, Body=archive.getvalue())
