"""Which URLs may be named: schemes, ports, hosts as written, and what goes out of the rest."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whenthen.domain.rules.outgoing_url import read_outgoing_url

NONE: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, id=f"case_096-{text}")
        for text in [
            "ftp://example.com/",
            "file:///etc/passwd",
            "gopher://example.com/",
            "https://user:pw@example.com/",
            "https://user@example.com/",
            "https://@example.com/",
            "https://:@example.com/",
            "https://user:80@example.com/",
            "http://example.com:22/",
        ]
    ]
    + [
        "",
        "example.com",
        "//example.com/",
        "/path",
        "http:/example.com/",
        "http:example.com",
        "http://",
        "https:///path",
        "http://?x",
        "ws://example.com/",
        "data:text/plain,x",
        "javascript:alert(1)",
        "hxxp://example.com/",
        # Two readers, two hosts.
        "http://example.com\\@inner.example/",
        "http://example.com\\.inner.example/",
        "http://example.com\\/",
        "http://inner.example%2f@example.com/",
        "http://example.com%00.inner.example/",
        "http://%31%32%37.0.0.1/",
        "http://exam ple.com/",
        "http://example.com,inner.example/",
        "http://example.com;inner.example/",
        "http://exam\tple.com/",
        "http://example.com/a\nb",
        "http://example.com/\r\nHost: inner.example",
        "http://example.com/\0",
        "http://example.com/\x7f",
        "http://example.com/\ud800",
        # Hosts that are none.
        "http://.example.com/",
        "http://example..com/",
        "http://example.com../",
        "http://./",
        "http://" + "a" * 64 + ".example/",
        "http://" + ".".join(["a" * 63] * 4) + "/",
        "http://[::1/",
        "http://::1/",
        "http://[]/",
        "http://[127.0.0.1]/",
        "http://[v1.x]/",
        "http://[::1]x/",
        "http://[fe80::1%25eth0]/",
        "http://[fe80::1%eth0]/",
        "http://[::ffff:127.0.0.1.]/",
        # Names of other scripts that IDNA refuses.
        "http://\u2603.net/",
        "http://a\u200db.com/",
        "http://\u00fc..com/",
        "http://" + "\u00fc" * 80 + ".com/",
        # Ports.
        "http://example.com:0/",
        "http://example.com:-1/",
        "http://example.com:+80/",
        "http://example.com:8O/",
        "http://example.com:\uff18\uff10/",
        "http://example.com:65536/",
        "http://example.com:100000/",
        "http://example.com:80:80/",
    ],
)
def test_no_automation_may_call(text: str) -> None:
    assert read_outgoing_url(text, NONE) is None


@pytest.mark.parametrize(
    ("port", "is_open"),
    [
        (1, False),
        (22, False),
        (25, False),
        (79, False),
        (80, True),
        (81, False),
        (442, False),
        (443, True),
        (444, False),
        (1023, False),
        (1024, True),
        (5432, True),
        (65_535, True),
        (65_536, False),
    ],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_ports_are_80_443_and_those_above_1023(scheme: str, port: int, *, is_open: bool) -> None:
    found = read_outgoing_url(f"{scheme}://example.com:{port}/", NONE)
    assert (found is not None) is is_open
    assert found is None or found.port == port


@pytest.mark.parametrize(
    ("text", "scheme", "host", "port"),
    [
        ("http://example.com", "http", "example.com", 80),
        ("HTTPS://Example.COM/A", "https", "example.com", 443),
        ("https://a_b-c.example.", "https", "a_b-c.example", 443),
        ("http://example.com:/", "http", "example.com", 80),
        ("http://example.com:0443/", "http", "example.com", 443),
        (" http://example.com/\n", "http", "example.com", 80),
        ("http://[2606:4700:0::1]:8080/", "http", "2606:4700::1", 8080),
        ("http://2130706433/", "http", "2130706433", 80),
        ("http://169.254.169.254./", "http", "169.254.169.254", 80),
        ("https://Bücher.example/", "https", "xn--bcher-kva.example", 443),
        ("https://bu\u0308cher.example", "https", "xn--bcher-kva.example", 443),
        ("https://straße.example", "https", "xn--strae-oqa.example", 443),
        ("http://①②⑦.0.0.1/", "http", "127.0.0.1", 80),
        ("http://127。0。0。1/", "http", "127.0.0.1", 80),
    ],
)
def test_a_url_is_read_as(text: str, scheme: str, host: str, port: int) -> None:
    found = read_outgoing_url(text, NONE)
    assert found is not None
    assert (found.scheme, found.host, found.port) == (scheme, host, port)
    assert not found.is_allowed


@pytest.mark.parametrize(
    ("written", "target"),
    [
        ("", "/"),
        ("/", "/"),
        ("?a=b", "/?a=b"),
        ("?", "/?"),
        ("#frag", "/"),
        ("/a/../b//c?x=/y?z#?not", "/a/../b//c?x=/y?z"),
        ("/a b?c d", "/a%20b?c%20d"),
        ("/é?ü", "/%C3%A9?%C3%BC"),
        ("/a%20b%2Fc", "/a%20b%2Fc"),
        ("/100%", "/100%25"),
        ("/100%zz%4", "/100%25zz%254"),
        ("/a[0]?b[]=1", "/a[0]?b[]=1"),
        ('/"<>^`{|}\\', "/%22%3C%3E%5E%60%7B%7C%7D%5C"),
        ("/-._~!$&'()*+,;=:@", "/-._~!$&'()*+,;=:@"),
        ("/@user:pw@x", "/@user:pw@x"),
    ],
)
def test_path_and_query_go_out_escaped_once(written: str, target: str) -> None:
    found = read_outgoing_url(f"http://example.com{written}", NONE)
    assert found is not None
    assert found.target == target


@pytest.mark.parametrize(
    ("text", "authority"),
    [
        ("http://example.com", "example.com"),
        ("http://example.com:80", "example.com"),
        ("http://example.com:443", "example.com:443"),
        ("https://example.com:443", "example.com"),
        ("https://example.com:8443", "example.com:8443"),
        ("http://[2606:4700::1]", "[2606:4700::1]"),
        ("http://[2606:4700::1]:8080", "[2606:4700::1]:8080"),
    ],
)
def test_the_host_header_names_the_port_only_if_it_is_not_the_schemes_own(
    text: str, authority: str
) -> None:
    found = read_outgoing_url(text, NONE)
    assert found is not None
    assert found.authority == authority


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("http://127.0.0.1/", True),
        ("http://127.0.0.1:8080/", True),
        ("http://127.0.0.1:22/", True),
        ("http://LOCALHOST:1/", True),
        ("http://[::1]:8080/", True),
        ("https://BÜCHER.example/", True),
        # Other spellings of what is allowed.
        ("http://2130706433/", False),
        ("http://0x7f000001/", False),
        ("http://127.1/", False),
        ("http://127.0.0.1./", False),
        ("http://①②⑦.0.0.1/", False),
        ("http://localhost./", False),
        ("http://localhost.example/", False),
        ("http://xn--bcher-kva.example/", False),
        ("http://[0:0:0:0:0:0:0:1]:8080/", False),
        ("http://[::ffff:127.0.0.1]/", False),
    ],
)
def test_an_allowed_host_is_one_that_is_written_the_same(text: str, *, allowed: bool) -> None:
    hosts = frozenset({"127.0.0.1", "localhost", "::1", "bücher.example"})
    found = read_outgoing_url(text, hosts)
    assert found is not None
    assert found.is_allowed is allowed


@pytest.mark.parametrize(
    "text",
    [
        "http://127.0.0.1:0/",
        "http://127.0.0.1:65536/",
        "http://user@127.0.0.1/",
        "ftp://127.0.0.1/",
        "http://127.0.0.1:22x/",
    ],
)
def test_being_allowed_opens_ports_and_nothing_else(text: str) -> None:
    assert read_outgoing_url(text, frozenset({"127.0.0.1"})) is None


def test_a_url_is_at_most_8192_characters_long() -> None:
    start = "http://example.com/"
    assert read_outgoing_url(start + "a" * (8_192 - len(start)), NONE) is not None
    assert read_outgoing_url(start + "a" * (8_193 - len(start)), NONE) is None


@settings(deadline=None)  # the first name of another script loads its tables
@given(st.text(max_size=60) | st.from_regex(r"\Ahttps?://[^/]{0,20}(:[0-9]*)?(/.*)?\Z"))
def test_whatever_is_read_is_safe_to_send(text: str) -> None:
    found = read_outgoing_url(text, NONE)
    if found is None:
        return
    assert found.scheme in {"http", "https"}
    assert set(found.host) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_.:")
    assert found.port in {80, 443} or found.port >= 1024
    assert found.target.startswith("/")
    assert all("!" <= char <= "~" for char in found.target)
