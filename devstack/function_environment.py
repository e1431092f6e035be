"""The environment of a function's processes: the template's, its role's credentials, Lambda's own.

Nothing of the stack's own environment comes along, but for the settings that the template names.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from devstack.emulated_aws import EmulatedAws
from devstack.stack_deploy import FunctionSpec
from devstack.stack_template import REGION

# Not in the template, since a deployment has a host and a secret instead.
ALSO_TAKEN = ("DATABASE_URL",)


def function_environment(
    aws: EmulatedAws,
    function: FunctionSpec,
    code: tuple[Path, Path],
    overrides: Mapping[str, str],
) -> dict[str, str]:
    """Return the variables of one function's processes.

    `code` is the functions' folder and the layer's. A setting in `overrides` wins over the
    template's variable of the same name.
    """
    task_root, layer = code
    taken = {
        name: value
        for name, value in overrides.items()
        if name in function.environment or name in ALSO_TAKEN
    }
    return {
        **function.environment,
        **taken,
        **_credentials(aws, function),
        "AWS_ENDPOINT_URL": aws.endpoint,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        # Nothing of the developer's own AWS set-up may leak in.
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_EXECUTION_ENV": f"AWS_Lambda_python{sys.version_info.major}.{sys.version_info.minor}",
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_mb),
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": "devstack",
        "DEVSTACK_FUNCTION_ARN": function.arn,
        "LAMBDA_TASK_ROOT": str(task_root),
        "PYTHONPATH": f"{task_root}:{layer}",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "en_US.UTF-8",
        "TZ": ":UTC",
        "_HANDLER": function.handler,
    }


def _credentials(aws: EmulatedAws, function: FunctionSpec) -> dict[str, str]:
    credentials = aws.role_credentials(function.role_arn, function.name)
    return {name.upper(): value for name, value in credentials.items()}
