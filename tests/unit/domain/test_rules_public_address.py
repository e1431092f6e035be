"""Which addresses are public: edges of every range, and addresses inside addresses."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whenthen.domain.rules.public_address import is_public

# The last address before a range, its first, its last, the first after it; None: not public either.
RANGES_4 = [
    (None, "0.0.0.0", "0.255.255.255", "1.0.0.0"),  # noqa: S104  # an address, nothing binds to it
    ("9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"),
    ("100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"),
    ("126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"),
    ("169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"),
    ("172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"),
    ("191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"),
    ("192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"),
    ("192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"),
    ("192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"),
    ("198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"),
    ("198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"),
    ("203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"),
    ("223.255.255.255", "224.0.0.0", "239.255.255.255", None),
    (None, "240.0.0.0", "255.255.255.255", None),
]
RANGES_6 = [
    (None, "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"),
    ("2000:ffff::", "2001::", "2001:1ff:ffff::", "2001:200::"),
    ("2001:db7:ffff::", "2001:db8::", "2001:db8:ffff::", "2001:db9::"),
    ("3ffe:ffff::", "3fff::", "3fff:fff:ffff::", "3fff:1000::"),
    ("3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "ffff::", None),
]


@pytest.mark.parametrize(("before", "first", "last", "after"), [*RANGES_4, *RANGES_6])
def test_a_range_is_refused_from_its_first_to_its_last_and_no_further(
    before: str | None, first: str, last: str, after: str | None
) -> None:
    assert [is_public(text) for text in (before, after) if text] == [True] * (
        (before is not None) + (after is not None)
    )
    assert (is_public(first), is_public(last)) == (False, False)


@pytest.mark.parametrize(
    "address",
    [
        pytest.param(address, id=f"case_{case:03}-{address}")
        for case, addresses in {
            91: [
                "::ffff:169.254.169.254",
                "::ffff:127.0.0.1",
                "::",
                "0.0.0.0",  # noqa: S104
                "127.0.0.1",
                "169.254.169.254",
                "fd00:ec2::254",
                "::1",
            ],
            92: [
                "100.64.0.1",
                "64:ff9b::a9fe:a9fe",
                "2002:a9fe:a9fe::",
                "224.0.0.1",
                "fec0::1",
                "::7f00:1",
                "192.0.0.1",
                "198.18.0.1",
                "240.0.0.1",
            ],
        }.items()
        for address in addresses
    ],
)
def test_an_inner_address_is_refused_in_every_form(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("::ffff:8.8.8.8", True),
        ("::ffff:10.0.0.1", False),
        ("::8.8.8.8", True),
        ("::10.0.0.1", False),
        ("64:ff9b::8.8.8.8", True),
        ("64:ff9b::10.0.0.1", False),
        # The local NAT64 prefix, wherever it keeps the IPv4 address.
        ("64:ff9b:1::8.8.8.8", False),
        ("64:ff9b:1:808:808::", False),
        ("64:ff9b::1:8.8.8.8", False),
        ("2002:808:808::", True),
        ("2002:a00:1::", False),
        ("2002:808:808::a00:1", True),
        # Teredo, with public server and client; the older translated form; unique local.
        ("2001:0:808:808::f7f7:f7f7", False),
        ("::ffff:0:8.8.8.8", False),
        ("fc00::1", False),
        ("fdff::1", False),
        ("fe80::1", False),
        ("ff0e::1", False),
        ("fe80::1%eth0", False),
        ("2606:4700::1%eth0", False),
        ("2606:4700::1", True),
        ("2a00:1450:4001:82b::200e", True),
        ("93.184.216.34", True),
    ],
)
def test_an_address_that_leads_to_another_is_judged_as_that_one(
    address: str, *, public: bool
) -> None:
    assert is_public(address) is public


@pytest.mark.parametrize(
    "text", ["", "localhost", "2130706433", "0x7f000001", "127.1", "8.8.8.8:80", "[2606:4700::1]"]
)
def test_what_is_no_address_is_not_public(text: str) -> None:
    assert not is_public(text)


def is_ordinary(found: IPv4Address | IPv6Address) -> bool:
    """What the standard library says, with all of its properties and not one alone."""
    site_local = isinstance(found, IPv6Address) and found.is_site_local
    special = (found.is_multicast, found.is_reserved, found.is_link_local, site_local)
    return found.is_global and not any(special)


@settings(deadline=None)
@given(st.ip_addresses(v=4).filter(lambda found: is_public(str(found))))
def test_the_standard_library_agrees_on_public_ipv4_addresses(found: IPv4Address) -> None:
    assert is_ordinary(found)


@settings(deadline=None)
@given(st.integers(min_value=0x2000 << 112, max_value=(0x4000 << 112) - 1).map(IPv6Address))
def test_the_standard_library_agrees_on_public_ipv6_addresses(found: IPv6Address) -> None:
    if is_public(str(found)):
        assert is_ordinary(found.sixtofour or found)


@settings(deadline=None)
@given(st.ip_addresses(v=4), st.sampled_from(["::", "::ffff:", "64:ff9b::"]))
def test_every_embedding_has_the_verdict_of_what_it_embeds(inner: IPv4Address, prefix: str) -> None:
    assert is_public(str(ip_address(f"{prefix}{inner}"))) is is_public(str(inner))
