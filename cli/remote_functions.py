"""The one part of the command line that speaks to AWS: it invokes functions of a deployment.

The credential is IAM's: `lambda:InvokeFunction` on the function and, to find it by its name in the
template, `cloudformation:DescribeStackResource` on the stack.
"""

import json
from typing import Any, Final

from cli.exits import FAILED, NOT_FOUND, UNAUTHORISED, UNREACHABLE, USAGE, CommandError

CONNECT_TIMEOUT_S: Final = 10
# Lambda ends every function after 15 minutes.
READ_TIMEOUT_S: Final = 910
_NOT_ALLOWED: Final = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "UnrecognizedClientException",
        "SignatureDoesNotMatch",
    }
)
_NOT_THERE: Final = frozenset({"ResourceNotFoundException", "ValidationError"})


def invoke(stack: str | None, region: str | None, function: str, event: bytes) -> tuple[bool, Any]:
    """Return whether the function failed, and what it returned or says of its failure.

    `function` is its logical id in the template of `stack`, or without a stack its ARN.

    Raises:
        CommandError: no such stack or function, no credentials, not allowed, not reachable.

    """
    import botocore.exceptions  # noqa: PLC0415  # only this command pays for it

    try:
        name = _physical_name(stack, region, function) if stack else function
        answer = _client("lambda", region).invoke(FunctionName=name, Payload=event)
        told = json.loads(answer["Payload"].read() or b"null")
    except botocore.exceptions.ClientError as error:
        raise _refused(error.response.get("Error", {})) from error
    except botocore.exceptions.NoRegionError as error:
        raise CommandError("say which region, with --region or AWS_REGION", USAGE) from error
    except botocore.exceptions.NoCredentialsError as error:
        raise CommandError("there are no AWS credentials", UNAUTHORISED) from error
    except botocore.exceptions.BotoCoreError as error:
        raise CommandError(f"AWS is not reachable: {error}", UNREACHABLE) from error
    return "FunctionError" in answer, told


def _physical_name(stack: str, region: str | None, function: str) -> str:
    found = _client("cloudformation", region).describe_stack_resource(
        StackName=stack, LogicalResourceId=function
    )
    return str(found["StackResourceDetail"]["PhysicalResourceId"])


def _client(service: Any, region: str | None) -> Any:
    import boto3  # noqa: PLC0415  # only this command pays for it
    from botocore.config import Config  # noqa: PLC0415

    # A second try would run the function a second time.
    config = Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=READ_TIMEOUT_S,
        retries={"total_max_attempts": 1},
    )
    return boto3.Session(region_name=region).client(service, config=config)


def _refused(told: Any) -> CommandError:
    code = told.get("Code", "")
    exit_code = FAILED
    if code in _NOT_ALLOWED:
        exit_code = UNAUTHORISED
    elif code in _NOT_THERE:
        exit_code = NOT_FOUND
    return CommandError(f"{code}: {told.get('Message', '')}", exit_code)
