"""What an action's call to AWS ends in: an answer, or an error that says whether to try again."""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final

from whenthen.aws.clients import aws_errors
from whenthen.domain.errors import ActionTimeoutError, FatalError, RetryableError
from whenthen.domain.rules.classify import classify_error

_TOLD_MAX_CHARS: Final = 300

_log = logging.getLogger("whenthen.aws")


@dataclass(frozen=True, slots=True)
class Refusals:
    """How a service says no: under which code of ours, and what may be told of it.

    `told`: codes of AWS whose message speaks of what the action asked, and of nothing else; the
    others may name roles and accounts. `retried`: codes that pass, beside those that always do.
    """

    code: str
    told: Collection[str]
    retried: Collection[str] = ()


def answer_of(call: Callable[[], Any], refusals: Refusals) -> Any:
    """Return what `call` returns.

    Raises:
        FatalError: the service refused what it was asked (`refusals.code`).
        RetryableError: it refused for now (`AWS_{code}`).
        ActionTimeoutError: it had not answered when the action's time was up.
        BotoCoreError, ClientError: as they are, where `classify_error` knows them.

    """
    from botocore.exceptions import ClientError, ReadTimeoutError  # noqa: PLC0415  # import budget

    try:
        return call()
    except ReadTimeoutError as error:
        raise ActionTimeoutError("the action did not finish within its timeout") from error
    except ClientError as error:
        if classify_error(error).retryable:
            raise
        # Operators read here what the run does not tell, such as a permission that is missing.
        _log.warning("refused by AWS", extra={"error": str(error)})
        said = error.response["Error"]
        raise _refusal(said.get("Code", ""), said.get("Message", ""), refusals) from error
    except aws_errors() as error:
        if classify_error(error).retryable:
            raise
        raise FatalError(refusals.code, type(error).__name__) from error


def _refusal(code: str, message: str, refusals: Refusals) -> FatalError | RetryableError:
    told = f"{code}: {message}"[:_TOLD_MAX_CHARS] if code in refusals.told else code
    if code in refusals.retried:
        return RetryableError(f"AWS_{code}", told)
    return FatalError(refusals.code, told)
