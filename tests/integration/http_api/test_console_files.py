"""How the console's files are served, and what the browser is told to do with them."""

import base64
import gzip
import re
import subprocess
import sys
from pathlib import Path

import pytest

import http_api
from http_api.console_files import File, site
from tests.integration.http_api.client import Answer, gateway_event, send

FOLDER = Path(http_api.__file__).with_name("console")
FILES = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.iterdir())}
SERVED = pytest.mark.usefixtures("module_api")


def ask(path: str, method: str = "GET", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return send(gateway_event(method, path, None, {}, named))


def path_to(name: str) -> str:
    return f"/console/{site().build}/{name}"


# ---- how they are served


@SERVED
@pytest.mark.parametrize("name", [name for name in FILES if name != "index.html"])
def test_every_file_is_served_with_its_type_for_good(name: str) -> None:
    media_type = {
        ".js": "text/javascript; charset=utf-8",
        ".css": "text/css; charset=utf-8",
        ".svg": "image/svg+xml",
    }[Path(name).suffix]
    answer = ask(path_to(name))
    assert (answer.status, answer.text) == (200, FILES[name])
    assert answer.headers["content-type"] == media_type
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


@SERVED
def test_the_page_is_asked_for_each_time_and_names_every_file_with_its_build() -> None:
    answer = ask("/")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.text == FILES["index.html"].replace("/console/VERSION/", path_to(""))
    named = re.findall(r'(?:href|src)="([^"]+)"', answer.text)
    assert {ask(path).status for path in named} == {200}
    assert all(path.startswith(path_to("")) for path in named)


HEADERS = {
    "content-security-policy": "default-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


@SERVED
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("path", ["/", path_to("app.js"), path_to("app.css"), path_to("icon.svg")])
def test_each_answer_says_what_the_browser_may_do_with_it(method: str, path: str) -> None:
    headers = ask(path, method).headers
    assert {name: headers[name] for name in HEADERS} == HEADERS


@SERVED
@pytest.mark.parametrize("path", ["/", path_to("app.js")])
def test_a_head_is_a_get_without_the_body(path: str) -> None:
    got, head = ask(path), ask(path, "HEAD")
    assert (head.status, head.text) == (200, "")
    unlike = {"x-request-id"}
    assert {n: v for n, v in head.headers.items() if n not in unlike} == {
        n: v for n, v in got.headers.items() if n not in unlike
    }


@SERVED
@pytest.mark.parametrize("path", ["/", path_to("app.js")])
def test_what_the_browser_has_is_not_sent_again(path: str) -> None:
    got = ask(path)
    again = ask(path, if_none_match=f'"other", {got.headers["etag"]}')
    assert (again.status, again.text) == (304, "")
    assert again.headers["etag"] == got.headers["etag"]
    assert again.headers["cache-control"] == got.headers["cache-control"]
    assert ask(path, if_none_match='W/"0123456789abcdef"').status == 200


@SERVED
@pytest.mark.parametrize("path", ["/", path_to("app.js")])
@pytest.mark.parametrize(
    ("form", "status"),
    [("{}", 304), ("W/{}", 304), ("*", 304), ('"a", W/{} , "b"', 304), ("W/{}x", 200), ("", 200)],
)
def test_tags_are_compared_whole_and_weakly(path: str, form: str, status: int) -> None:
    tag = ask(path).headers["etag"].removeprefix("W/")
    assert ask(path, if_none_match=form.format(tag)).status == status


@SERVED
@pytest.mark.parametrize(
    ("accepted", "is_zipped"),
    [
        ("gzip", True),
        ("br, GZIP ; q=0.1", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("x-gzip, notgzip", False),
        ("identity", False),
    ],
)
def test_gzip_is_for_those_who_say_so(accepted: str, *, is_zipped: bool) -> None:
    answer = ask(path_to("app.js"), accept_encoding=accepted)
    assert ("content-encoding" in answer.headers) is is_zipped


@SERVED
@pytest.mark.parametrize("path", ["/", path_to("app.css")])
def test_who_takes_gzip_gets_it(path: str) -> None:
    plain = ask(path)
    zipped = ask(path, accept_encoding="br, gzip;q=0.8")
    assert zipped.headers["content-encoding"] == "gzip"
    assert gzip.decompress(base64.b64decode(zipped.text)).decode() == plain.text
    assert "content-encoding" not in plain.headers
    assert {plain.headers["vary"], zipped.headers["vary"]} == {"accept-encoding"}


@SERVED
@pytest.mark.parametrize(
    "path",
    [
        path_to("unknown.js"),
        path_to("index.html"),
        path_to("../handler.py"),
        path_to(".."),
        path_to("%2e%2e%2fhandler.py"),
        path_to("..\\handler.py"),
        path_to("/etc/passwd"),
        path_to(""),
        path_to("app.js/"),
        path_to("app.js\0"),
        path_to("APP.JS"),
        "/console/0123456789abcdef/app.js",
        "/console/VERSION/app.js",
        "/console/../app.js",
        "/console/app.js",
        "/console/",
        "/console",
        "/app.js",
        "/index.html",
        "//app.js",
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_any_other_path_is_unknown(method: str, path: str) -> None:
    assert ask(path, method).status == 404


@SERVED
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["/", path_to("app.js")])
def test_files_are_only_read(method: str, path: str) -> None:
    answer = ask(path, method)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_a_file_more_or_other_is_another_build() -> None:
    assert re.fullmatch("[0-9a-f]{16}", site().build)
    assert site().files.keys() == FILES.keys() - {"index.html"}
    assert File("text/css", "a").etag != File("text/css", "b").etag


def test_no_file_is_read_before_one_is_asked_for() -> None:
    script = (
        "import sys, http_api.handler;"
        "from http_api.console_files import site;"
        "print(site.cache_info().currsize, 'http_api.console_provider' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0", "False"]
