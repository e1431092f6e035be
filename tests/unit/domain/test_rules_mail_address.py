import pytest

from whenthen.domain.rules.mail_address import ADDRESS_MAX_CHARS, is_mail_address

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
