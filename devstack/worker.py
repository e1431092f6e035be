"""One Lambda sandbox: `python -m devstack.worker HANDLER CHANNEL_FD LIFELINE_FD`.

Imports the handler, then answers one invocation after the other. Ends when the stack ends, however
that happens: the stack alone holds the other end of the lifeline, and it closes with the process.
"""

import importlib
import json
import os
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

from devstack.frames import receive_frame, send_frame
from devstack.lambda_context import LambdaContext

Handler = Callable[[Any, LambdaContext], Any]


def main(handler_name: str, channel_fd: int, lifeline_fd: int) -> None:
    """Serve invocations until the channel closes."""
    threading.Thread(target=_die_with_stack, args=(lifeline_fd,), daemon=True).start()
    channel = socket.socket(fileno=channel_fd)
    os.chdir(os.environ["LAMBDA_TASK_ROOT"])
    handler = load_handler(handler_name)
    send_frame(channel, {"ready": True})
    while True:
        try:
            request = receive_frame(channel)
        except EOFError:
            return
        send_frame(channel, answer(handler, request))


def load_handler(name: str) -> Handler:
    """Return the function that a handler string names (`folder.module.function`)."""
    module, _, function = name.rpartition(".")
    handler: Handler = getattr(importlib.import_module(module), function)
    return handler


def answer(handler: Handler, request: dict[str, Any]) -> dict[str, Any]:
    """Return `{"result": …}`, or `{"error": …}` in the shape of Lambda's error object."""
    try:
        result = handler(
            request["event"], LambdaContext(request["requestId"], request["deadlineMs"] / 1000)
        )
        text = json.dumps(result)
    except Exception as error:  # noqa: BLE001  # the outermost edge: what Lambda does
        traceback.print_exc()
        return {
            "error": {
                "errorType": type(error).__name__,
                "errorMessage": str(error),
                "stackTrace": traceback.format_tb(error.__traceback__),
            }
        }
    finally:
        sys.stdout.flush()
    return {"result": json.loads(text)}


def _die_with_stack(lifeline_fd: int) -> None:
    os.read(lifeline_fd, 1)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
