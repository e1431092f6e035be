"""Teaches moto's IAM the resource of each call and IAM's own action names.

moto authorises every call outside SQS and S3 against the resource `*`, so exact ARNs are denied,
and it takes an API's name for the IAM action, although batch calls have none of their own.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

from moto.bedrockruntime.responses import BedrockRuntimeResponse
from moto.iam.access_control import IAMPolicy, IAMRequestBase, PermissionResult
from moto.iam.models import iam_backends
from moto.kinesis.responses import KinesisResponse
from moto.kms.responses import KmsResponse
from moto.secretsmanager.responses import SecretsManagerResponse
from moto.sesv2.responses import SESV2Response

from devstack.replacing import replace

# Source: AWS Service Authorization Reference, SQS: the batch calls have no action of their own.
ACTION_OF_CALL = {
    "sqs:SendMessageBatch": "sqs:SendMessage",
    "sqs:DeleteMessageBatch": "sqs:DeleteMessage",
    "sqs:ChangeMessageVisibilityBatch": "sqs:ChangeMessageVisibility",
    # Of Bedrock too: asking a model is invoking it.
    "bedrock:Converse": "bedrock:InvokeModel",
    # SES: SendEmail of API v2 with a finished ("raw") message, as ours are.
    "ses:SendEmail": "ses:SendRawEmail",
}


@dataclass(frozen=True, slots=True)
class Need:
    """One thing a role must be allowed to do."""

    action: str
    resource: str


@cache
def teach_moto_iam() -> None:
    """Make moto's IAM decide on exact ARNs for the services that we use, once a process."""
    replace(KinesisResponse, _determine_resource=_stream_arn)
    replace(SecretsManagerResponse, _determine_resource=_secret_arn)
    replace(SESV2Response, _determine_resource=_identity_arn)
    replace(BedrockRuntimeResponse, _determine_resource=_model_arn)
    replace(KmsResponse, _determine_resource=lambda response: _parameter(response, "KeyId") or "*")
    check = IAMRequestBase.check_action_permitted

    def check_real_action(self: Any, resource: str) -> None:
        self._action = ACTION_OF_CALL.get(self._action, self._action)
        check(self, resource)

    replace(IAMRequestBase, check_action_permitted=check_real_action)


def missing_permissions(account_id: str, role_name: str, needs: Sequence[Need]) -> list[Need]:
    """Return those of `needs` that the role's inline policies do not allow.

    Lambda asks the same when an event source mapping is created, and then polls as that role.
    """
    role = iam_backends[account_id]["aws"].get_role(role_name)
    policies = [
        IAMPolicy({"policy_document": text if isinstance(text, str) else json.dumps(text)})
        for text in role.policies.values()
    ]

    def allowed(need: Need) -> bool:
        results = [policy.is_action_permitted(need.action, need.resource) for policy in policies]
        return PermissionResult.PERMITTED in results and PermissionResult.DENIED not in results

    return [need for need in needs if not allowed(need)]


def _stream_arn(response: Any) -> str:
    name = _parameter(response, "StreamName")
    if not name:
        return _parameter(response, "StreamARN") or "*"
    return f"arn:aws:kinesis:{response.region}:{response.current_account}:stream/{name}"


def _secret_arn(response: Any) -> str:
    secret_id = _parameter(response, "SecretId") or "*"
    for secret in response.backend.secrets.values():
        if secret_id in {secret.arn, secret.name}:
            return str(secret.arn)
    return str(secret_id)


def _identity_arn(response: Any) -> str:
    sender = json.loads(response.body or "{}").get("FromEmailAddress")
    if not sender:
        return "*"
    # The address where that is verified itself, else its domain.
    known = response.sesv2_backend.core_backend.email_identities
    identity = sender if sender in known else sender.rpartition("@")[2]
    return f"arn:aws:ses:{response.region}:{response.current_account}:identity/{identity}"


def _model_arn(response: Any) -> str:
    # /model/{modelId}/converse
    model_id = unquote(urlsplit(response.uri).path.split("/")[2])
    if model_id.startswith("arn:"):
        return model_id
    return f"arn:aws:bedrock:{response.region}::foundation-model/{model_id}"


def _parameter(response: Any, name: str) -> str | None:
    value = response._get_param(name)  # noqa: SLF001  # how moto's own resource checks read it
    return str(value) if value else None
