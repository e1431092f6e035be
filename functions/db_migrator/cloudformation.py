"""Answers CloudFormation about a custom resource: once, and before its time is up."""

import logging
import time
from collections.abc import Callable, Mapping
from http.client import HTTPException
from typing import Any, Final
from urllib.request import Request, urlopen

from whenthen.domain import json_text

# The resource stands for the schema, which is there but once; another id would replace it.
PHYSICAL_ID: Final = "schema"
_REASON_MAX_CHARS: Final = 1_000
_PUT_TIMEOUT_S: Final = 5
_PUT_PAUSES_S: Final = (1, 2, 4, None)

_log = logging.getLogger("whenthen.db_migrator")

Answer = dict[str, Any]


def serve(request: Mapping[str, Any], work: Callable[[], Mapping[str, Any]]) -> Answer:
    """Return what CloudFormation was told: what `work` made, or why it failed.

    Deleting the resource does nothing and succeeds, whatever state the database is in: a stack
    that could never be created has to be deletable. `request` is CloudFormation's own: its
    `ResponseURL` is pre-signed and a credential, so it stands in no log. A request that comes twice
    is answered twice; CloudFormation takes the first.

    Raises:
        OSError, HTTPException: the answer could not be delivered; Lambda invokes again.

    Source: AWS, "Custom resource response objects": 4,096 bytes at most.
    """
    try:
        data = {} if request["RequestType"] == "Delete" else work()
        answer = _answer(request, "SUCCESS", "", data)
    except Exception as error:  # noqa: BLE001  # the outermost edge: every failure is an answer
        _log.exception("the migration failed")
        answer = _answer(request, "FAILED", f"{type(error).__name__}: {error}", {})
    _put(request["ResponseURL"], json_text.dumps(answer).encode())
    return answer


def _answer(
    request: Mapping[str, Any], status: str, reason: str, data: Mapping[str, Any]
) -> Answer:
    echoed = {name: request[name] for name in ("StackId", "RequestId", "LogicalResourceId")}
    return {
        **echoed,
        "Status": status,
        "Reason": reason[:_REASON_MAX_CHARS],
        "PhysicalResourceId": request.get("PhysicalResourceId", PHYSICAL_ID),
        "Data": dict(data),
    }


def _put(url: str, body: bytes) -> None:
    # The signature covers an empty content type; urllib would send one of its own.
    request = Request(url, data=body, headers={"Content-Type": ""}, method="PUT")  # noqa: S310
    for pause_s in _PUT_PAUSES_S:
        try:
            with urlopen(request, timeout=_PUT_TIMEOUT_S):  # noqa: S310  # CloudFormation's URL
                return
        except (OSError, HTTPException):
            if pause_s is None:
                raise
            time.sleep(pause_s)
