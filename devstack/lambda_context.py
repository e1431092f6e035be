"""The context object that a handler gets: Lambda's, with a clock that really runs down."""

import os
import time


class LambdaContext:
    """Source: AWS Lambda Developer Guide, "Using the Lambda context object" for Python."""

    identity = None
    client_context = None

    def __init__(self, request_id: str, deadline: float) -> None:
        self.aws_request_id = request_id
        self._deadline = deadline
        self.function_name = os.environ["AWS_LAMBDA_FUNCTION_NAME"]
        self.function_version = os.environ["AWS_LAMBDA_FUNCTION_VERSION"]
        self.memory_limit_in_mb = os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]
        self.log_group_name = os.environ["AWS_LAMBDA_LOG_GROUP_NAME"]
        self.log_stream_name = os.environ["AWS_LAMBDA_LOG_STREAM_NAME"]
        self.invoked_function_arn = os.environ["DEVSTACK_FUNCTION_ARN"]

    def get_remaining_time_in_millis(self) -> int:
        """Return the whole milliseconds until the stack kills this process; 0 when past."""
        return max(int((self._deadline - time.time()) * 1000), 0)
