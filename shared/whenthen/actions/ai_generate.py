"""AI_GENERATE: one question to a model of Bedrock, its answer as text."""

from typing import Final

from whenthen.actions.as_text import as_text
from whenthen.actions.requests import StepRequest, StepSuccess
from whenthen.aws.clients import ActionClient, action_client
from whenthen.aws.models import Question, converse
from whenthen.domain.errors import FatalError

# Ends in which the model's text is not what it would have said.
_BLOCKED: Final = frozenset({"content_filtered", "guardrail_intervened"})


def perform(request: StepRequest, client: ActionClient = action_client) -> StepSuccess:
    """Ask the model of `request`, and return its answer.

    ::

        {"text": "…", "stopReason": "end_turn",
         "usage": {"inputTokens": 12, "outputTokens": 80, "totalTokens": 92}}

    A text that ended at `maxTokens` is a success with the stop reason `max_tokens`.

    Raises:
        FatalError: AI_NOT_CONFIGURED, neither action nor deployment names a model;
            TEMPLATE_MISSING, the prompt is empty with its values filled in; AI_REJECTED, the model
            or a guardrail refused, the model may not be asked, or it answered no text.
        RetryableError: the model is busy, not ready, or failed (`AWS_{code}`).
        ActionTimeoutError: it had not answered when the deadline passed.

    """
    answer = converse(_question(request), request.timeout_s, client)
    if answer.stop_reason in _BLOCKED:
        raise FatalError("AI_REJECTED", f"the answer was withheld: {answer.stop_reason}")
    if not answer.text.strip():
        # What follows would act on nothing.
        raise FatalError("AI_REJECTED", f"the model answered no text: {answer.stop_reason}")
    return StepSuccess(
        {"text": answer.text, "usage": dict(answer.usage), "stopReason": answer.stop_reason}
    )


def _question(request: StepRequest) -> Question:
    config = request.config
    model_id = as_text(config.get("modelId")) or request.settings.bedrock_model_id
    if not model_id:
        raise FatalError("AI_NOT_CONFIGURED", "no modelId, and BEDROCK_MODEL_ID is not set")
    prompt = as_text(config["prompt"])
    if not prompt.strip():
        raise FatalError("TEMPLATE_MISSING", "prompt has no value")
    return Question(
        model_id=model_id,
        prompt=prompt,
        system=as_text(config.get("system")) or None,
        max_tokens=config["maxTokens"],
        temperature=config.get("temperature"),
    )
