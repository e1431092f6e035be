from http_api.shown_once import ShownOnce, without_shown
from whenthen.domain import json_text


def test_what_is_shown_once_is_null_in_every_copy() -> None:
    body = {"a": [ShownOnce("x"), "x", 1, None], "b": {"c": ShownOnce("y")}}
    assert without_shown(body) == {"a": [None, "x", 1, None], "b": {"c": None}}
    assert json_text.dumps(body) == '{"a":["x","x",1,null],"b":{"c":"y"}}'
