"""The door to Bedrock: asks a model one question."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from whenthen.aws.action_calls import Refusals, answer_of
from whenthen.aws.clients import ActionClient, action_client

_REFUSALS: Final = Refusals(
    "AI_REJECTED",
    told=frozenset({"ModelErrorException", "ValidationException"}),
    # Source: Amazon Bedrock, "Troubleshooting API error codes": try again.
    retried=frozenset({"ModelErrorException", "ModelNotReadyException", "ModelTimeoutException"}),
)
_USAGE: Final = ("inputTokens", "outputTokens", "totalTokens")


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked; `temperature` None leaves it to the model."""

    model_id: str
    prompt: str
    system: str | None
    max_tokens: int
    temperature: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer: its text, whole or as far as it came, what it cost, and why it ended."""

    text: str
    usage: Mapping[str, int]
    stop_reason: str


def converse(question: Question, timeout_s: float, client: ActionClient = action_client) -> Answer:
    """Return the model's answer; `usage` is `{"inputTokens", "outputTokens", "totalTokens"}`.

    Raises:
        WhenthenError: as `answer_of` says, a refusal being AI_REJECTED.

    """
    answer = answer_of(
        lambda: client("bedrock-runtime", timeout_s).converse(**_request(question)), _REFUSALS
    )
    # Blocks of other kinds, such as a model's reasoning, are no part of its answer.
    blocks = answer["output"]["message"]["content"]
    return Answer(
        text="".join(block["text"] for block in blocks if "text" in block),
        usage={name: answer["usage"][name] for name in _USAGE},
        stop_reason=answer["stopReason"],
    )


def _request(question: Question) -> dict[str, Any]:
    inference: dict[str, Any] = {"maxTokens": question.max_tokens}
    if question.temperature is not None:
        inference["temperature"] = question.temperature
    request: dict[str, Any] = {
        "modelId": question.model_id,
        "messages": [{"role": "user", "content": [{"text": question.prompt}]}],
        "inferenceConfig": inference,
    }
    if question.system:
        request["system"] = [{"text": question.system}]
    return request
