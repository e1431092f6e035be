"""AI_GENERATE: what a model is asked, what is made of its answer, and what is refused."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import pytest
from botocore.exceptions import ClientError, NoCredentialsError, ReadTimeoutError

from devstack.echo_model import echo
from tests.integration.step_requests import step_request
from tests.integration.stubbed_clients import gives, stubbed
from whenthen.actions.ai_generate import perform
from whenthen.actions.requests import StepRequest
from whenthen.aws.clients import ActionClient
from whenthen.domain.errors import ActionTimeoutError, FatalError, RetryableError
from whenthen.domain.rules.classify import classify_error

BEDROCK = "bedrock-runtime"
MODEL = "vendor.model-v1:0"
USAGE = {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}


def question(settings: Mapping[str, str] | None = None, **config: Any) -> StepRequest:
    deployment = {"BEDROCK_MODEL_ID": MODEL} if settings is None else settings
    return step_request({"prompt": "Say hello", "maxTokens": 1_024} | config, 10, **deployment)


def answered(
    *texts: str | None, stop_reason: str = "end_turn", expected: Any = None
) -> AbstractContextManager[ActionClient]:
    """A client whose answer is given; None is a block that is no text."""
    reasoning = {"reasoningContent": {"reasoningText": {"text": "hm"}}}
    content = [reasoning if text is None else {"text": text} for text in texts]
    response = {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop_reason,
        "usage": {**USAGE, "cacheReadInputTokens": 0},
        "metrics": {"latencyMs": 1},
    }
    return stubbed(BEDROCK, lambda stub: stub.add_response("converse", response, expected))


def refused(code: str, status: int) -> AbstractContextManager[ActionClient]:
    return stubbed(
        BEDROCK,
        lambda stub: stub.add_client_error("converse", code, "because", http_status_code=status),
    )


def output(request: StepRequest, client: AbstractContextManager[ActionClient]) -> Any:
    with client as asked:
        return perform(request, asked).output


def test_the_answer_is_the_text_what_it_cost_and_why_it_ended() -> None:
    assert output(question(), answered("Hello")) == {
        "text": "Hello",
        "usage": USAGE,
        "stopReason": "end_turn",
    }


def test_the_model_is_asked_as_the_action_says() -> None:
    asked = {
        "modelId": MODEL,
        "messages": [{"role": "user", "content": [{"text": "Say hello"}]}],
        "inferenceConfig": {"maxTokens": 1_024},
    }
    output(question(), answered("Hello", expected=asked))
    full = {
        "modelId": "other.model",
        "messages": [{"role": "user", "content": [{"text": '{"a":1}'}]}],
        "inferenceConfig": {"maxTokens": 7, "temperature": 0.5},
        "system": [{"text": "Be brief"}],
    }
    config: Any = {
        "prompt": {"a": 1},
        "modelId": "other.model",
        "maxTokens": 7,
        "temperature": 0.5,
        "system": "Be brief",
    }
    output(question(**config), answered("Hello", expected=full))


def test_only_text_is_the_answer_and_all_of_it() -> None:
    assert output(question(), answered(None, "Hel", "lo"))["text"] == "Hello"


def test_a_text_that_ended_at_its_limit_is_an_answer() -> None:
    cut = output(question(), answered("Hel", stop_reason="max_tokens"))
    assert (cut["text"], cut["stopReason"]) == ("Hel", "max_tokens")


@pytest.mark.parametrize(
    ("texts", "stop_reason", "message"),
    [
        (["Sorry"], "guardrail_intervened", "the answer was withheld: guardrail_intervened"),
        (["So"], "content_filtered", "the answer was withheld: content_filtered"),
        ([], "end_turn", "the model answered no text: end_turn"),
        ([None], "max_tokens", "the model answered no text: max_tokens"),
        ([" \n"], "end_turn", "the model answered no text: end_turn"),
    ],
)
def test_an_answer_that_is_none_is_refused(
    texts: list[str | None], stop_reason: str, message: str
) -> None:
    with pytest.raises(FatalError) as caught:
        output(question(), answered(*texts, stop_reason=stop_reason))
    assert (caught.value.code, caught.value.message) == ("AI_REJECTED", message)


@pytest.mark.parametrize(
    ("code", "status", "message"),
    [
        ("ValidationException", 400, "ValidationException: because"),
        ("AccessDeniedException", 403, "AccessDeniedException"),
        ("ResourceNotFoundException", 404, "ResourceNotFoundException"),
    ],
)
def test_a_refusal_of_bedrock_is_final_and_tells_only_what_concerns_the_question(
    code: str, status: int, message: str
) -> None:
    with pytest.raises(FatalError) as caught:
        output(question(), refused(code, status))
    assert (caught.value.code, caught.value.message) == ("AI_REJECTED", message)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("ThrottlingException", 429),
        ("ModelNotReadyException", 429),
        ("ModelTimeoutException", 408),
        ("ModelErrorException", 424),
        ("InternalServerException", 500),
        ("ServiceUnavailableException", 503),
    ],
)
def test_a_model_that_is_busy_or_failed_is_asked_again_later(code: str, status: int) -> None:
    with pytest.raises((ClientError, RetryableError)) as caught:
        output(question(), refused(code, status))
    verdict = classify_error(caught.value)
    assert (verdict.retryable, verdict.code) == (True, f"AWS_{code}")


def test_a_model_that_does_not_answer_in_time_is_a_timeout() -> None:
    class Silent:
        def converse(self, **_: Any) -> Any:
            raise ReadTimeoutError(endpoint_url="https://bedrock.example")

    with pytest.raises(ActionTimeoutError):
        perform(question(), gives(Silent()))


@pytest.mark.parametrize(
    ("settings", "config", "code"),
    [
        ({}, {}, "AI_NOT_CONFIGURED"),
        ({}, {"modelId": ""}, "AI_NOT_CONFIGURED"),
        (None, {"prompt": ""}, "TEMPLATE_MISSING"),
        (None, {"prompt": None}, "TEMPLATE_MISSING"),
        (None, {"prompt": " \n"}, "TEMPLATE_MISSING"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_before_it_is(
    settings: dict[str, str] | None, config: dict[str, Any], code: str
) -> None:
    def nobody(_service: str, _timeout_s: float) -> Any:
        raise AssertionError

    with pytest.raises(FatalError) as caught:
        perform(question(settings, **config), nobody)
    assert caught.value.code == code


def test_an_action_may_name_a_model_where_the_deployment_names_none() -> None:
    assert output(question({}, modelId=MODEL), answered("Hello"))["text"] == "Hello"


def test_a_call_that_could_not_be_made_is_no_retry() -> None:
    class Nobody:
        def converse(self, **_: Any) -> Any:
            raise NoCredentialsError

    with pytest.raises(FatalError) as caught:
        perform(question(), gives(Nobody()))
    assert (caught.value.code, caught.value.message) == ("AI_REJECTED", "NoCredentialsError")


# -------------------------------------------------------------------------------- the echo model


def ask_echo(prompt: str, **inference: int) -> dict[str, Any]:
    messages = [{"role": "user", "content": [{"text": prompt}]}]
    return echo({"messages": messages, "inferenceConfig": inference})


def test_the_echo_model_answers_with_its_prompt_as_bedrock_would() -> None:
    answer = ask_echo("one two three", maxTokens=2)
    said = output(question(), stubbed(BEDROCK, lambda stub: stub.add_response("converse", answer)))
    assert (said["text"], said["stopReason"]) == ("one two", "max_tokens")
    assert said["usage"] == {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}


def test_the_echo_model_ends_when_it_has_said_everything() -> None:
    assert ask_echo("one two", maxTokens=2)["stopReason"] == "end_turn"
    assert ask_echo("one two")["stopReason"] == "end_turn"
