import pytest

from whenthen.domain.rules.mail_address import ADDRESS_MAX_CHARS, is_mail_address, mailbox

LONGEST = "@" + "b" * (ADDRESS_MAX_CHARS - 2)


@pytest.mark.parametrize("text", ["ada@example.com", "a@b", "é.x+y@exämple.test", "a" + LONGEST])
def test_one_address_is_one(text: str) -> None:
    assert is_mail_address(text)


@pytest.mark.parametrize(
    "text",
    ["", "ada", "@", "a@", "@b", "a@b@c", "a b@c", "a@b,c@d", "<a@b>", "a@b\n", "aa" + LONGEST],
)
def test_anything_else_is_none(text: str) -> None:
    assert not is_mail_address(text)


@pytest.mark.parametrize(
    ("text", "sent_to"),
    [
        ("ada@example.com", "ada@example.com"),
        ("Ada.L+x_y!#$%&'*/=?^`{|}~-@EXAMPLE.com", "Ada.L+x_y!#$%&'*/=?^`{|}~-@EXAMPLE.com"),
        ("a@b", "a@b"),
        ("ada@exämple.com", "ada@xn--exmple-cua.com"),
        ("ada@例え.jp", "ada@xn--r8jz45g.jp"),
        ("a" * 64 + "@b", "a" * 64 + "@b"),
        ("a@" + "b" * 63 + ".c", "a@" + "b" * 63 + ".c"),
    ],
)
def test_a_mailbox_is_written_as_mail_servers_take_it(text: str, sent_to: str) -> None:
    assert mailbox(text) == sent_to


@pytest.mark.parametrize(
    "text",
    [
        "ada",
        "a@b@c",
        "ädä@example.com",
        '"a b"@example.com',
        '"a"@example.com',
        ".a@b",
        "a.@b",
        "a..b@c",
        "a@-b",
        "a@b-",
        "a@.b",
        "a@b.",
        "a@b..c",
        "a@b_c",
        "a@[192.0.2.1]",
        "a(c)@b",
        "a\x7f@b",
        "a\0@b",
        "a@b\x85",
        "a" * 65 + "@b",
        "a@" + "b" * 64 + ".c",
        "a@" + "b." * 127 + "cc",
        "a@xn--\xe4",
        "a@ß\u200d-",
    ],
)
def test_where_no_mail_can_be_sent_there_is_no_mailbox(text: str) -> None:
    assert mailbox(text) is None
