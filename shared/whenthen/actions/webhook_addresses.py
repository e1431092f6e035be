"""Where the host of a webhook leads: resolved once, and refused unless every answer is public."""

from whenthen.actions.deadline import Deadline
from whenthen.actions.resolving import Resolve, addresses_of
from whenthen.domain.errors import FatalError
from whenthen.domain.rules.outgoing_url import OutgoingUrl
from whenthen.domain.rules.public_address import is_public


def checked_addresses(url: OutgoingUrl, deadline: Deadline, resolve: Resolve) -> list[str]:
    """Return the addresses that may be connected to for `url`, IPv4 first.

    Raises:
        FatalError: WEBHOOK_URL_FORBIDDEN, one of them is not public and the host is not allowed
            by name; or UNEXPECTED, the name does not exist.
        OSError: the resolver failed for now (EAI_AGAIN).
        ActionTimeoutError: it did not answer in time.

    """
    addresses = addresses_of(url.host, deadline, resolve, "the URL's")
    if not addresses or not (url.is_allowed or all(map(is_public, addresses))):
        raise forbidden()
    return addresses


def forbidden() -> FatalError:
    """Return the refusal of an address: always the same, so that it tells nothing of what is there.

    Neither which rule refused it nor what the name resolves to is in it.
    """
    return FatalError("WEBHOOK_URL_FORBIDDEN", "the URL is not one that webhooks may call")
