"""Where in an action's config a template must have a value, what may be a secret or HTML."""

import re
from typing import Final

from whenthen.domain.kinds import ActionType

# Ids, addresses and recipients: an empty one would act on the wrong thing or on nothing.
_NEEDS_VALUE: Final = {
    ActionType.CREATE_RECORD: re.compile(r"databaseId"),
    ActionType.UPDATE_RECORD: re.compile(r"recordId"),
    ActionType.DELETE_RECORD: re.compile(r"recordId"),
    ActionType.CREATE_PAGE: re.compile(r"parentId"),
    ActionType.CREATE_NOTIFICATION: re.compile(r"userIds\[\d+\]"),
    ActionType.SEND_EMAIL: re.compile(r"to\[\d+\]|replyTo"),
    ActionType.SEND_WEBHOOK: re.compile(r"url"),
    ActionType.AI_GENERATE: re.compile(r"modelId"),
    ActionType.DELAY: re.compile(r"until|seconds"),
}

# Not the URL: addresses end up in access logs and error messages.
_SECRET_ALLOWED: Final = re.compile(r"(headers|body)([.\[].*)?|signingSecret", re.DOTALL)


def needs_value(action_type: ActionType, place: str) -> bool:
    """Return whether a template at `place` (`recordId`, `to[0]`) must not be missing or null."""
    return _NEEDS_VALUE[action_type].fullmatch(place) is not None


def may_hold_secret(action_type: ActionType, place: str) -> bool:
    """Return whether `secrets.NAME` may stand at `place`: in a webhook's headers, body and key."""
    return action_type == ActionType.SEND_WEBHOOK and _SECRET_ALLOWED.fullmatch(place) is not None


def is_html(action_type: ActionType, place: str) -> bool:
    """Return whether the text at `place` is HTML, so that values in it must not add to its markup.

    Source: docs/decisions/0017-values-in-html-mail.md.
    """
    return action_type == ActionType.SEND_EMAIL and place == "html"
