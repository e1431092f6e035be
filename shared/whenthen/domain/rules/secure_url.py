"""Whether a URL's answer can be believed: nobody on the way can have written it."""

from typing import Final
from urllib.parse import urlsplit

# On this machine nobody is on the way.
_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def is_secure_url(url: str) -> bool:
    """Return whether `url`, without user and fragment, is https, or http to this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    if not host or parts.username is not None or parts.fragment:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host in _HERE)
