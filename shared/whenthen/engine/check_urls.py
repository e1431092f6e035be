"""Whether the URLs of a definition may be called at all, by what they say."""

from collections.abc import Iterable
from typing import Any, Final

from whenthen.domain.errors import InvalidError
from whenthen.domain.rules.outgoing_url import read_outgoing_url
from whenthen.domain.schemas.actions import Action, SendWebhookConfig
from whenthen.domain.schemas.details import detail
from whenthen.domain.schemas.templated import has_template


class _Everything:
    """All hosts: a setting allows some of them, and where they lead is seen at the call."""

    def __contains__(self, _: Any) -> bool:
        return True


_ANY_HOST: Final = _Everything()


def check_urls(actions: Iterable[Action]) -> None:
    """Return when no URL without a template is one that no deployment would call.

    Raises:
        InvalidError: `WEBHOOK_URL_FORBIDDEN`, one names a user, or no host or port that can be.

    """
    details = [
        detail(["actions", n, "config", "url"], "is not one that webhooks may call", "url")
        for n, one in enumerate(actions)
        if isinstance(one.config, SendWebhookConfig) and _is_forbidden(one.config.url)
    ]
    if details:
        raise InvalidError("WEBHOOK_URL_FORBIDDEN", "a URL cannot be called", details)


def _is_forbidden(url: str) -> bool:
    return not has_template(url) and read_outgoing_url(url, _ANY_HOST) is None
