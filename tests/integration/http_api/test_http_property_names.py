"""Property names over HTTP: written either way they are one name, and it is kept in NFC."""

from tests.integration.http_api.client import Answer, Api

ONE, TWO = "Caf\u00e9", "Cafe\u0301"


def make_database(api: Api, *names: str) -> Answer:
    return api.mine.owner.post(
        f"/workspaces/{api.mine.workspace_id}/databases",
        {"name": "D", "properties": [{"name": name, "type": "text"} for name in names]},
    )


def test_a_property_is_found_however_its_name_is_composed(api: Api) -> None:
    made = make_database(api, TWO).json
    assert [one["name"] for one in made["properties"]] == [ONE]
    path = f"/databases/{made['id']}/records"
    for name in (ONE, TWO):
        record = api.mine.editor.post(path, {"properties": {name: "x"}}).json
        assert record["properties"] == {ONE: "x"}
        patched = api.mine.editor.patch(f"/records/{record['id']}", {"properties": {name: None}})
        assert patched.json["properties"] == {}


def test_one_name_in_two_forms_stands_twice(api: Api) -> None:
    answer = make_database(api, ONE, TWO)
    assert answer.status == 422
    assert [one["path"] for one in answer.error["details"]] == ["properties[1].name"]


def test_a_schema_written_the_other_way_is_no_change(api: Api) -> None:
    path = f"/databases/{api.mine.database_id}"
    seen = [
        api.mine.owner.patch(path, {"properties": [{"name": name, "type": "text"}]}).json
        for name in (ONE, TWO)
    ]
    assert seen[0] == seen[1]
