"""Exact ARNs decide, service by service, and batch calls count as what they do."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import ClientError

from devstack.emulated_aws import EmulatedAws, allow_everything, enforce_iam
from devstack.errors import StackError
from devstack.stack import Listeners, RunningStack, RunPlan
from devstack.stack_deploy import deploy
from devstack.stack_template import SplitTemplate, split_template
from tests.integration.devstack.conftest import HANDLERS, SAMPLE_TEMPLATE

ACTIONS = [
    "sqs:SendMessage",
    "sqs:ReceiveMessage",
    "sqs:DeleteMessage",
    "kinesis:PutRecords",
    "secretsmanager:GetSecretValue",
    "kms:Encrypt",
    "s3:PutObject",
    "ses:SendEmail",
    "ses:SendRawEmail",
    "bedrock:InvokeModel",
]


@dataclass(frozen=True)
class Resources:
    """One resource of each service, under one name."""

    queue_url: str
    stream: str
    secret: str
    key: str
    bucket: str
    sender: str
    model: str
    arns: list[str]


def make_resources(aws: EmulatedAws, name: str) -> Resources:
    account = "arn:aws:%s:eu-west-1:123456789012:%s"
    queue_url = aws.client("sqs").create_queue(QueueName=name)["QueueUrl"]
    aws.client("kinesis").create_stream(StreamName=name, ShardCount=1)
    secret = aws.make_secret(name, {"a": "b"})
    key = aws.client("kms").create_key()["KeyMetadata"]["Arn"]
    aws.client("s3").create_bucket(
        Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
    )
    sender, model = f"bot@{name}.example", f"{name}.model-v1:0"
    aws.verify_sender(sender)
    arns = [
        account % ("sqs", name),
        account % ("kinesis", f"stream/{name}"),
        secret,
        key,
        f"arn:aws:s3:::{name}/*",
        account % ("ses", f"identity/{sender}"),
        f"arn:aws:bedrock:eu-west-1::foundation-model/{model}",
    ]
    return Resources(queue_url, name, secret, key, name, sender, model, arns)


@pytest.fixture(scope="module")
def own(aws: EmulatedAws) -> Resources:
    return make_resources(aws, "own")


@pytest.fixture(scope="module")
def foreign(aws: EmulatedAws) -> Resources:
    return make_resources(aws, "foreign")


@pytest.fixture(scope="module")
def credentials(aws: EmulatedAws, own: Resources, foreign: Resources) -> dict[str, str]:
    """Of a role that may do everything, to its own resources only."""
    assert foreign
    iam = aws.client("iam")
    trust = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": "*"}}
    role = iam.create_role(
        RoleName="worker",
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
    )["Role"]["Arn"]
    statement = {"Effect": "Allow", "Action": ACTIONS, "Resource": own.arns}
    iam.put_role_policy(
        RoleName="worker",
        PolicyName="own",
        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]}),
    )
    return aws.role_credentials(role, "test")


@pytest.fixture
def client(aws: EmulatedAws, credentials: dict[str, str]) -> Iterator[Callable[[str], Any]]:
    """Makes clients of that role, IAM deciding as long as the test runs."""
    enforce_iam()
    yield lambda service: aws.client(service, credentials)
    allow_everything()


def send_mail(ses: Any, sender: str) -> None:
    data = f"From: {sender}\r\nTo: ada@example.com\r\n\r\nHello\r\n".encode()
    ses.send_email(FromEmailAddress=sender, Content={"Raw": {"Data": data}})


def ask(bedrock: Any, model: str) -> None:
    bedrock.converse(modelId=model, messages=[{"role": "user", "content": [{"text": "Hello"}]}])


CALLS: dict[str, tuple[str, Callable[[Any, Resources], Any]]] = {
    "sqs one by one": (
        "sqs",
        lambda sqs, r: sqs.send_message(QueueUrl=r.queue_url, MessageBody="x"),
    ),
    "sqs in a batch": (
        "sqs",
        lambda sqs, r: sqs.send_message_batch(
            QueueUrl=r.queue_url, Entries=[{"Id": "1", "MessageBody": "x"}]
        ),
    ),
    "kinesis": (
        "kinesis",
        lambda kinesis, r: kinesis.put_records(
            StreamName=r.stream, Records=[{"Data": b"x", "PartitionKey": "k"}]
        ),
    ),
    "secretsmanager": ("secretsmanager", lambda s, r: s.get_secret_value(SecretId=r.secret)),
    "secretsmanager by name": (
        "secretsmanager",
        lambda s, r: s.get_secret_value(SecretId=r.bucket),
    ),
    "kms": ("kms", lambda kms, r: kms.encrypt(KeyId=r.key, Plaintext=b"x")),
    "s3": ("s3", lambda s3, r: s3.put_object(Bucket=r.bucket, Key="k", Body=b"x")),
    "ses": ("sesv2", lambda ses, r: send_mail(ses, r.sender)),
    "bedrock": ("bedrock-runtime", lambda bedrock, r: ask(bedrock, r.model)),
    "bedrock by ARN": ("bedrock-runtime", lambda bedrock, r: ask(bedrock, r.arns[-1])),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_role_reaches_its_own_resource_and_no_other(
    client: Callable[[str], Any], own: Resources, foreign: Resources, name: str
) -> None:
    service, call = CALLS[name]
    call(client(service), own)
    with pytest.raises(ClientError) as refused:
        call(client(service), foreign)
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403


def test_an_action_that_is_not_listed_is_refused(
    client: Callable[[str], Any], own: Resources
) -> None:
    with pytest.raises(ClientError) as refused:
        client("sqs").purge_queue(QueueUrl=own.queue_url)
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403


def without(template: SplitTemplate, action: str) -> SplitTemplate:
    """Take one action out of the sample's consumer role."""
    policies = template.moto["Resources"]["ConsumerRole"]["Properties"]["Policies"]
    for statement in policies[0]["PolicyDocument"]["Statement"]:
        actions = statement["Action"]
        listed = actions if isinstance(actions, list) else [actions]
        statement["Action"] = [name for name in listed if name != action] or ["none:None"]
    return template


@pytest.mark.parametrize(
    "action",
    [
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
        "kinesis:GetRecords",
        "kinesis:ListShards",
        "s3:PutObject",
        "s3:ListBucket",
    ],
)
def test_a_mapping_whose_role_may_not_read_its_source_is_refused(
    aws: EmulatedAws, action: str
) -> None:
    template = split_template(SAMPLE_TEMPLATE, {}, {}, {})
    stack = deploy(without(template, action), name=f"without-{action.replace(':', '-')}")
    with pytest.raises(StackError, match=f"does not allow {action} on arn:aws:"):
        RunningStack(aws, stack, RunPlan((HANDLERS, HANDLERS)), Listeners())


def test_a_verified_domain_is_the_identity_of_its_addresses(
    aws: EmulatedAws, client: Callable[[str], Any], own: Resources
) -> None:
    allow_everything()
    aws.verify_sender("domain.example")
    enforce_iam()
    assert own.sender
    # The role may not use that domain.
    with pytest.raises(ClientError) as refused:
        send_mail(client("sesv2"), "any@domain.example")
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403
