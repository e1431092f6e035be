"""What counts as an e-mail address: enough to refuse mistakes; whether it exists, mail tells."""

import re
from typing import Final

# RFC 5321, section 4.5.3.1: 64 octets, an @ and 255 octets.
ADDRESS_MAX_CHARS: Final = 320
_ADDRESS: Final = re.compile(r"[^\s@<>,;]+@[^\s@<>,;]+")


def is_mail_address(text: str) -> bool:
    """Return whether `text` is one address and nothing else, `ada@example.com`."""
    return len(text) <= ADDRESS_MAX_CHARS and _ADDRESS.fullmatch(text) is not None
