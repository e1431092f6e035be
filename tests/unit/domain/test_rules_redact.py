"""How secrets stay out of what is written down."""

import base64
import html
import json
import re
import time
import unicodedata
from decimal import Decimal
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.domain.json_text import dumps
from whenthen.domain.rules.redact import redact, redact_beginning

SECRET = 'p@ss/w "ör\\d🙂&<+>~\n%'


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        quote(SECRET, safe="!'()*"),
        quote_plus(SECRET),
        quote(SECRET, safe="").replace("%C3%B6", "%c3%b6").lower().replace("%c3", "%c3"),
        base64.b64encode(SECRET.encode()).decode(),
        base64.b64encode(SECRET.encode()).decode().rstrip("="),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1].replace("/", "\\/"),
        dumps(SECRET)[1:-1].replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"),
    ],
)
def test_case_110_a_secret_is_found_however_it_is_written(written: str) -> None:
    assert redact(f"Bearer {written}; next", [SECRET]) == "Bearer •••; next"
    assert redact(written, [SECRET]) == "•••"


def test_a_form_body_and_a_query_hide_the_secret() -> None:
    query = urlencode({"token": SECRET, "x": "1"})
    assert redact(query, [SECRET]) == "token=•••&x=1"


def test_texts_are_redacted_at_any_depth_in_values_and_keys() -> None:
    value = {"a": ["x hunter22 y", {"hunter22": [None, 1, True, 1.5]}], "b": "hunter2"}
    assert redact(value, ["hunter22"]) == {
        "a": ["x ••• y", {"•••": [None, 1, True, 1.5]}],
        "b": "hunter2",
    }
    assert value["b"] == "hunter2"
    assert "hunter22" in dumps(value)


@pytest.mark.parametrize(
    ("text", "secrets", "shown"),
    [
        ("", ["abcdefgh"], ""),
        ("abcdefgh", ["abcdefgh"], "•••"),
        ("abcdefghabcdefgh", ["abcdefgh"], "•••"),
        ("abcdefgh abcdefgh", ["abcdefgh"], "••• •••"),
        ("xabcdefgh", ["abcdefgh"], "x•••"),
        ("abcdefg", ["abcdefgh"], "abcdefg"),
        ("ABCDEFGH", ["abcdefgh"], "ABCDEFGH"),
        ("abcdefghijkl", ["abcdefgh", "efghijkl"], "•••"),
        ("abcdefghijkl", ["efghijkl", "abcdefgh"], "•••"),
        ("abcdefghijkl!", ["abcdefghijkl", "cdefghij"], "•••!"),
        ("-abcdefgh--efghijkl", ["abcdefgh", "efghijkl"], "-•••--•••"),
        ("aaaaaaaaa!", ["aaaaaaaa"], "•••!"),
        ("nothing here", ["abcdefgh"], "nothing here"),
    ],
)
def test_what_secrets_cover_is_replaced_overlaps_included(
    text: str, secrets: list[str], shown: str
) -> None:
    assert redact(text, secrets) == shown


@pytest.mark.parametrize("secrets", [[], [""], ["", ""]])
def test_without_secrets_the_value_stays_as_it_is(secrets: list[str]) -> None:
    value = {"a": ["x"]}
    assert redact(value, secrets) is value


def test_a_large_output_and_many_secrets_take_little_time() -> None:
    value = {f"key {n}": "some text that holds no secret at all" for n in range(1_500)}
    secrets = [f"secret value number {n}/" for n in range(20)]
    started = time.process_time()
    assert redact(value, secrets) == value
    assert redact("a" * 65_536, ["a" * 4_096]) == "•••"
    assert time.process_time() - started < 5


texts = st.text(st.characters(exclude_categories=["Cs"]))
secret_values = st.text(st.characters(exclude_categories=["Cs"]), min_size=8, max_size=30)
WRITE = [
    str,
    quote,
    quote_plus,
    lambda text: base64.b64encode(text.encode()).decode(),
    lambda text: json.dumps(text)[1:-1],
    lambda text: dumps(text)[1:-1],
]


@given(secret_values, texts, texts, st.sampled_from(WRITE))
def test_no_written_form_is_left(secret: str, before: str, after: str, write: Any) -> None:
    written = write(secret)
    (shown,) = redact([before + written + after], [secret])
    assert shown.count("•••") >= 1
    if "•" not in before + secret + after:
        assert written not in shown


# ------------------------------------------------------------- written by somebody else's library

PEM = """-----BEGIN KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQ
EFAASCBKcwggSjAgEAAoIBAQ
short
-----END KEY-----
"""
DOCUMENT = '{"user": "robot", "password": "hunter22-\\u00e9\\n", "pin": 12345678, "x": [true]}'
KEY = "whsec_" + base64.b64encode(bytes(range(7, 39))).decode()
SECRETS = {
    "plain": "sk_live_51HqLyjWDarjtT1zdp7dc",
    "awkward": SECRET,
    "quotes": "\"'\\\"'\\n\\u0041%41&amp;",
    "spaces": "two  words + more",
    "unicode": "naïve-пароль-パスワード-🔑",
    "digits": "00049152367",
}
ENCODERS: dict[str, Any] = {
    "raw": str,
    "url": lambda text: quote(text, safe=""),
    "url path": quote,
    "url lower": lambda text: re.sub("%..", lambda m: m[0].lower(), quote(text, safe="")),
    "form": quote_plus,
    "url twice": lambda text: quote(quote(text, safe=""), safe=""),
    "url of every byte": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "json": lambda text: json.dumps(text)[1:-1],
    "json utf-8": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "json of every unit": lambda text: "".join(
        f"\\u{text.encode('utf-16-be')[n : n + 2].hex()}" for n in range(0, 2 * utf_16(text), 2)
    ),
    "json twice": lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
    "json three times": lambda text: json.dumps(json.dumps(json.dumps(text)[1:-1])[1:-1])[1:-1],
    "json of url": lambda text: json.dumps(quote_plus(text))[1:-1],
    "url of json": lambda text: quote(json.dumps(text)[1:-1]),
    "html": html.escape,
    "html of json": lambda text: html.escape(json.dumps(text)[1:-1]),
    "json of html": lambda text: json.dumps(html.escape(text))[1:-1],
    "html by number": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "html by hex": lambda text: "".join(f"&#x{ord(char):X};" for char in text),
    "repr": lambda text: repr(text)[1:-1],
    "repr of bytes": lambda text: repr(text.encode())[2:-1],
    "python escapes": lambda text: "".join(f"\\U{ord(char):08x}" for char in text),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 url": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "base64 in a query": lambda text: quote(base64.b64encode(text.encode()).decode(), safe=""),
    "base64 in JSON": lambda text: base64.b64encode(text.encode()).decode().replace("/", "\\/"),
    "base64 in lines": lambda text: base64.encodebytes(text.encode() * 5).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "HEXADECIMAL": lambda text: text.encode().hex().upper(),
    "taken for Latin-1": lambda text: text.encode().decode("latin-1"),
    "NFD": lambda text: unicodedata.normalize("NFD", text),
}


def utf_16(text: str) -> int:
    return len(text.encode("utf-16-be")) // 2


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("name", SECRETS)
def test_case_110_nothing_of_a_secret_is_left_whoever_wrote_it(name: str, encoder: str) -> None:
    secret, encode = SECRETS[name], ENCODERS[encoder]
    written = encode(secret)
    shown = redact(f'<<"{written}">>', [secret])
    assert shown.startswith('<<"')
    assert shown.rstrip("\n").endswith('">>')
    # What fills up base64 tells nothing.
    assert shown.replace("•••", "").replace("=", "").replace("\n", "") == '<<"">>'


@pytest.mark.parametrize("offset", range(3))
@pytest.mark.parametrize("after", range(3))
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("name", SECRETS)
def test_base64_of_more_than_the_secret_hides_it_at_every_alignment(
    name: str, encode: Any, after: int, offset: int
) -> None:
    secret = SECRETS[name]
    for around in (secret, json.dumps(secret)[1:-1], quote_plus(secret)):
        data = b"u" * offset + b"ser:" * 3 + around.encode() + b"~" * after
        shown = redact(encode(data).decode(), [secret])
        assert shown.count("•••") == 1
        kept = shown.split("•••")
        # What is whole before it, and what is whole after it.
        assert len(kept[0]) == (offset + 12) * 4 // 3
        assert len(kept[1].rstrip("=")) <= after * 4 // 3 + 1


def test_basic_authorization_hides_the_password() -> None:
    secret = SECRETS["plain"]
    header = base64.b64encode(f"robot:{secret}".encode()).decode()
    shown = redact(f"Basic {header}", [secret])
    assert shown == f"Basic {base64.b64encode(b'robot:').decode()}•••"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (12345678, "•••"),
        (912345678, "•••"),
        (1234567, 1234567),
        ([1, 12345678, True, None], [1, "•••", True, None]),
        ({"12345678": 1}, {"•••": 1}),
        (Decimal("12345678.50"), "•••"),
        (12345678.5, "•••"),
        (1.5, 1.5),
    ],
)
def test_a_number_that_shows_a_secret_is_none_any_more(value: Any, shown: Any) -> None:
    assert redact(value, ["12345678"]) == shown


@pytest.mark.parametrize(
    "shown",
    [
        PEM,
        PEM.replace("\n", "\r\n"),
        PEM.strip(),
        "\n".join(f"    {line}" for line in PEM.splitlines()),
        json.dumps(PEM.splitlines()),
    ],
    ids=["whole", "CRLF", "stripped", "indented", "as a list"],
)
def test_a_secret_of_several_lines_is_found_line_by_line(shown: str) -> None:
    redacted = redact(shown, [PEM])
    assert "•••" in redacted
    for line in PEM.splitlines():
        assert line not in redacted or line == "short"


def test_a_secret_is_found_without_the_spaces_that_a_header_loses() -> None:
    assert redact("x-key: abcdefgh;", ["  abcdefgh\n"]) == "x-key: •••;"


@pytest.mark.parametrize(
    "value",
    [
        json.loads(DOCUMENT),
        {"json": json.loads(DOCUMENT)},
        json.loads(DOCUMENT)["password"],
        {"pin is": 12345678},
        json.dumps(json.loads(DOCUMENT), indent=2),
        [DOCUMENT],
    ],
)
def test_a_secret_that_is_a_document_is_found_whole_and_in_parts(value: Any) -> None:
    shown = dumps(redact(value, [DOCUMENT]))
    assert "•••" in shown
    assert "hunter22" not in shown
    assert "12345678" not in shown


@pytest.mark.parametrize("secret", ["[1, 2", "{}      ", "[      ]", "{nothing: 1}"])
def test_what_only_looks_like_a_document_is_a_text(secret: str) -> None:
    assert redact({"a": [{}, [], secret]}, [secret]) == {"a": [{}, [], "•••"]}


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        KEY.removeprefix("whsec_"),
        KEY.removeprefix("whsec_").rstrip("="),
        base64.urlsafe_b64encode(bytes(range(7, 39))).decode(),
        bytes(range(7, 39)).hex(),
        bytes(range(7, 39)).hex().upper(),
        bytes(range(7, 39)).decode(),
        base64.b64encode(b"k=" + bytes(range(7, 39))).decode(),
        "".join(f"\\x{byte:02x}" for byte in range(7, 39)),
    ],
)
def test_a_signing_secret_is_found_as_the_key_that_it_stands_for(written: str) -> None:
    shown = redact(f"key {written}.", [KEY])
    assert shown in {"key •••.", "key az•••==."}


@pytest.mark.parametrize("secret", ["whsec_?no base64?", "whsec_AAAA", "whsec_"])
def test_a_signing_secret_that_is_no_key_is_a_text(secret: str) -> None:
    assert redact(f"key {secret}.", [secret]) == "key •••."


# ------------------------------------------------------------------------------------- what is cut


@pytest.mark.parametrize("encoder", sorted(set(ENCODERS) - {"base64 in lines"}))
@pytest.mark.parametrize("name", SECRETS)
def test_no_beginning_of_a_secret_is_left_wherever_a_text_is_cut(name: str, encoder: str) -> None:
    secret = SECRETS[name]
    head, written = "<title>", ENCODERS[encoder](secret)
    for length in range(1, len(written) + 1):
        shown = redact_beginning(head + written[:length], [secret, "another secret"])
        kept = shown.split("•••")[0]
        assert head.startswith(kept), (length, shown)
        # Of a text's end that could be its own nothing is sure, so it may take some of the head.
        assert len(shown) - shown.count("•") <= len(head), (length, shown)


@pytest.mark.parametrize("offset", range(3))
def test_nor_where_base64_of_more_is_cut(offset: int) -> None:
    secret = SECRETS["plain"]
    head = b"u" * offset + b"ser"
    written = base64.b64encode(head + secret.encode()).decode()
    first = (len(head) * 4) // 3
    # The one character of head and secret together is not known until another follows.
    for length in range(first + 2, len(written) + 1):
        shown = redact_beginning(written[:length], [secret])
        assert len(shown.replace("•", "").rstrip("=")) <= first, (length, shown)


def test_a_cut_text_without_a_secret_keeps_its_end() -> None:
    assert redact_beginning("nothing of it here!", ["abcdefgh"]) == "nothing of it here!"
    assert redact_beginning("x" * 100, []) == "x" * 100


def test_hostile_texts_and_secrets_take_little_time() -> None:
    secrets = ["a" * 4_096, "%41" * 1_000, '\\"' * 2_000, "+ " * 2_000, "é" * 4_096]
    started = time.process_time()
    for piece in ("%41", "\\u0041", "&#65;", "+", "\n", "\\\\", "%25", "a", "&amp;", "é"):
        redact_beginning(piece * (16_384 // len(piece)), secrets)
    assert time.process_time() - started < 20
