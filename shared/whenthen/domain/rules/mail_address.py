"""What counts as an e-mail address, and how one is written where mail is sent.

Whether it exists, mail tells.
"""

import re
from typing import Final

# RFC 5321, section 4.5.3.1: 64 octets, an @ and 255 octets.
ADDRESS_MAX_CHARS: Final = 320
_LOCAL_MAX_CHARS: Final = 64
_DOMAIN_MAX_CHARS: Final = 255
_ADDRESS: Final = re.compile(r"[^\s@<>,;]+@[^\s@<>,;]+")
# RFC 5322, section 3.2.3, dot-atom: quoted names are legal, and refused by most of the world.
_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LOCAL: Final = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DOMAIN: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")


def is_mail_address(text: str) -> bool:
    """Return whether `text` is one address and nothing else, `ada@example.com`."""
    return len(text) <= ADDRESS_MAX_CHARS and _ADDRESS.fullmatch(text) is not None


def mailbox(text: str) -> str | None:
    """Return the address as mail servers take it, or None if mail cannot be sent there.

    A domain in another script becomes ASCII (`ada@exämple.com`: `ada@xn--exmple-cua.com`). A name
    before the @ in another script has no such form: it needs SMTPUTF8, which SES does not speak.
    """
    if not is_mail_address(text):
        return None
    local, _, written = text.partition("@")
    domain = written if written.isascii() else _ascii_domain(written)
    fits = len(local) <= _LOCAL_MAX_CHARS and len(domain) <= _DOMAIN_MAX_CHARS
    if fits and _LOCAL.fullmatch(local) and _DOMAIN.fullmatch(domain):
        return f"{local}@{domain}"
    return None


def _ascii_domain(written: str) -> str:
    import idna  # noqa: PLC0415  # its tables cost 40 ms, and nearly all domains are ASCII

    try:
        return idna.encode(written, uts46=True).decode()
    except idna.IDNAError:
        return ""
