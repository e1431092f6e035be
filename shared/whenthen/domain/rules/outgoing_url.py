"""Which URLs an automation may name at all; where their host leads is asked when it is called."""

import re
from collections.abc import Container
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv6Address
from typing import Final
from urllib.parse import quote

from whenthen.domain.limits import WEBHOOK_URL_MAX_CHARS

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
# Below 1024 are services that answer to more than HTTP: mail, shells, file shares.
_FIRST_FREE_PORT: Final = 1024
_LAST_PORT: Final = 65_535

_UNFIT: Final = re.compile("[\0-\x1f\x7f\ud800-\udfff]")
# RFC 3986, appendix B, narrowed. A backslash is left to the host, which refuses it: some readers
# take it for a slash, so http://a.example\@b.example names two hosts.
_URL: Final = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>\[[^\]/?#@]*\]|[^/?#@:\[\]]*)(?::(?P<port>[0-9]{0,5}))?"
    r"(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?:#.*)?",
    re.IGNORECASE | re.DOTALL,
)
# RFC 1035 and 1123, with the underscore that names in use have.
_NAME: Final = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
# RFC 3986, what a path or query may hold as it is; brackets besides, which servers expect bare.
_AS_IT_IS: Final = "!$&'()*+,;=:@/?[]%-._~"
_LONE_PERCENT: Final = re.compile("%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class OutgoingUrl:
    """A URL that may be called, if its host leads to public addresses or is allowed by name."""

    scheme: str
    # ASCII and lower case, without a dot at the end; an IPv6 address without its brackets.
    host: str
    port: int
    # Path and query as they go out: `/a%20b?c=d`.
    target: str
    # The deployment allows this host by name, wherever it leads.
    is_allowed: bool

    @property
    def authority(self) -> str:
        """What the Host header says: the port is there only if it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


def read_outgoing_url(text: str, allowed_hosts: Container[str]) -> OutgoingUrl | None:
    """Return what `text` names, None if no automation may call it.

    http and https only, without user and password, on port 80, 443 or 1024 and above.
    `allowed_hosts` (lower case, IPv6 without brackets) is compared with the host *as written*, so
    neither another spelling of the same address nor a dot at the end passes; an allowed host may
    be called on any port. Names of other scripts are taken as browsers take them (UTS 46).
    """
    stripped = text.strip(" \t\r\n")
    if len(stripped) > WEBHOOK_URL_MAX_CHARS or _UNFIT.search(stripped):
        return None
    parts = _URL.fullmatch(stripped)
    if parts is None:
        return None
    written = parts["host"].lower()
    is_allowed = written.strip("[]") in allowed_hosts
    host = _literal(written) if written.startswith("[") else _name(written)
    scheme = parts["scheme"].lower()
    port = int(parts["port"] or _DEFAULT_PORTS[scheme])
    if host is None or not _is_open(port, is_allowed=is_allowed):
        return None
    target = (parts["path"] or "/") + (parts["query"] or "")
    return OutgoingUrl(scheme, host, port, _escaped(target), is_allowed)


def _is_open(port: int, *, is_allowed: bool) -> bool:
    if is_allowed:
        return 0 < port <= _LAST_PORT
    return port in _DEFAULT_PORTS.values() or _FIRST_FREE_PORT <= port <= _LAST_PORT


def _literal(written: str) -> str | None:
    try:
        address = IPv6Address(written[1:-1])
    except AddressValueError:
        return None
    return None if address.scope_id is not None else str(address)


def _name(written: str) -> str | None:
    name = written if written.isascii() else _ascii_name(written)
    # The dot at the end says that a name is whole. Neither certificates nor the resolver's literal
    # addresses have it, and what is decided here must be what is called.
    name = name.removesuffix(".")
    return name if _NAME.fullmatch(name) else None


def _ascii_name(written: str) -> str:
    import idna  # noqa: PLC0415  # its tables cost 40 ms, and nearly all names are ASCII

    try:
        return idna.encode(written, uts46=True).decode()
    except idna.IDNAError:
        return ""


def _escaped(target: str) -> str:
    return quote(_LONE_PERCENT.sub("%25", target), safe=_AS_IT_IS)
