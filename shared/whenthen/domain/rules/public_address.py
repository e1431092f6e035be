"""Whether an address is on the public internet, which alone an automation may call.

The tables are written out, since `ipaddress` answers differently from one Python to the next, and
`is_global` is true for multicast, NAT64 and site-local addresses.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

# Source: IANA IPv4 Special-Purpose Address Registry (RFC 6890), and RFC 5771 for multicast.
_NOT_PUBLIC_4: Final = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network; 0.0.0.0 reaches the machine itself
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT; within AWS also a VPC's own range
        "127.0.0.0/8",  # loopback; Lambda's own runtime API listens there
        "169.254.0.0/16",  # link-local; metadata and credentials of clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays, withdrawn
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)

# All that is assigned for global unicast. Outside: loopback, link-local, site-local, unique local
# (fd00:ec2::254 is a metadata service), multicast, and the local NAT64 prefix 64:ff9b:1::/48, in
# which the place of the IPv4 address depends on a prefix length that only the network knows.
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
# Source: IANA IPv6 Special-Purpose Address Registry.
_NOT_PUBLIC_6: Final = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)

# IPv6 addresses that lead to an IPv4 address: network, and by how many bits that one is shifted.
_EMBEDDING: Final = (
    (IPv6Network("::/96"), 0),  # IPv4-compatible; ::1 and :: become 0.0.0.1 and 0.0.0.0
    (IPv6Network("::ffff:0:0/96"), 0),  # IPv4-mapped
    (IPv6Network("64:ff9b::/96"), 0),  # NAT64, what DNS64 answers
    (IPv6Network("2002::/16"), 80),  # 6to4
)
_BITS_OF_IPV4: Final = (1 << 32) - 1


def is_public(address: str) -> bool:
    """Return whether `address`, as a resolver writes it (`203.0.113.5`, `2001:db8::1`), is public.

    An IPv6 address that leads to an IPv4 address is judged as that one. Text that is no address,
    and an address bound to an interface (`fe80::1%eth0`), is not public.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        embedded = _embedded(found)
        if embedded is None:
            return (
                found.scope_id is None
                and found in _GLOBAL_UNICAST
                and not any(found in network for network in _NOT_PUBLIC_6)
            )
        found = embedded
    return not any(found in network for network in _NOT_PUBLIC_4)


def _embedded(address: IPv6Address) -> IPv4Address | None:
    for network, shift in _EMBEDDING:
        if address in network:
            return IPv4Address(int(address) >> shift & _BITS_OF_IPV4)
    return None
