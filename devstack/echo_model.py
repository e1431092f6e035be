"""Bedrock on one machine: a model that answers with its prompt, whatever its name."""

import json
from functools import cache
from typing import Any

from moto.bedrockruntime.responses import BedrockRuntimeResponse

from devstack.replacing import replace

MODEL_ID = "whenthen.echo-v1:0"


@cache
def teach_moto_bedrock() -> None:
    """Let moto answer `Converse`, which it does not know, once a process."""
    replace(BedrockRuntimeResponse, converse=_converse)


def echo(request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a `Converse` request: the last message's text, a word to a token.

    No more words than `maxTokens`, and then the stop reason says so.
    """
    prompt = "".join(block.get("text", "") for block in request["messages"][-1]["content"])
    words = prompt.split(" ")
    limit = request.get("inferenceConfig", {}).get("maxTokens", len(words))
    said = words[:limit]
    return {
        "output": {"message": {"role": "assistant", "content": [{"text": " ".join(said)}]}},
        "stopReason": "end_turn" if len(said) == len(words) else "max_tokens",
        "usage": {
            "inputTokens": len(words),
            "outputTokens": len(said),
            "totalTokens": len(words) + len(said),
        },
        "metrics": {"latencyMs": 1},
    }


def _converse(response: Any) -> str:
    return json.dumps(echo(json.loads(response.body)))
