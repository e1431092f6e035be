"""How a place within a definition is written, as in the problems that the API names."""

import json
import re
from collections.abc import Iterable
from typing import Final

Step = str | int

# As in docs/architecture.md: free of spaces and of ASCII punctuation other than `_` and `-`.
_BARE: Final = re.compile(r"[^\x00-\x20!-,./:-@\[-^`{-\x7f\s]+")


def path_text(steps: Iterable[Step]) -> str:
    """Return `actions[0].config["First Name"]` for its steps."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _BARE.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text
