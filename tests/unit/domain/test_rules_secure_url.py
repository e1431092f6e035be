import pytest

from whenthen.domain.rules.secure_url import is_secure_url


@pytest.mark.parametrize(
    "url",
    [
        "https://id.example.com",
        "https://id.example.com:8443/realms/x?a=b",
        "http://localhost:9000",
        "http://127.0.0.1:9000/keys",
        "http://[::1]/keys",
    ],
)
def test_https_and_this_machine_can_be_believed(url: str) -> None:
    assert is_secure_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://id.example.com",
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
        "https://",
        "https:///keys",
        "https://user@id.example.com",
        "https://user:pass@id.example.com",
        "https://id.example.com/#x",
        "ftp://localhost",
        "file:///etc/passwd",
        "https://[::1",
        "localhost",
        "None",
    ],
)
def test_all_others_cannot(url: str) -> None:
    assert not is_secure_url(url)
