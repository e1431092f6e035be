"""One line of a 422's `details`: which part of the body, what is wrong with it, which rule."""

from collections.abc import Sequence
from typing import Final

from whenthen.domain.rules.data_path import Step, path_text

# A hostile body has a fault per key; nobody reads more than these.
DETAILS_MAX: Final = 50
_KEY_MAX_CHARS: Final = 100

Detail = dict[str, str]


def detail(steps: Sequence[Step], message: str, kind: str) -> Detail:
    """Return `{"path": "actions[0].config.url", "message": …, "type": kind}`.

    `steps` are JSON keys and indices from the body's root; very long keys are cut.
    """
    short = [step[:_KEY_MAX_CHARS] if isinstance(step, str) else step for step in steps]
    return {"path": path_text(short), "message": message, "type": kind}
