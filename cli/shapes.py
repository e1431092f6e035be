"""What the configs of triggers and actions may hold, as the deployment's own OpenAPI says.

Nothing is told twice: a deployment with another default or a new type brings its own words.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from uuid import UUID

from cli.exits import FAILED, CommandError
from cli.paths import Step

_PREFIX: Final = "#/components/schemas/"

Problem = tuple[tuple[Step, ...], str]


class Shapes:
    """The schemas of an OpenAPI document; `kind` is `Trigger` or `Action`."""

    def __init__(self, contract: Mapping[str, Any]) -> None:
        try:
            self._schemas: Mapping[str, Any] = contract["components"]["schemas"]
            self._configs = {
                kind: {
                    one["properties"]["type"]["const"]: self._resolved(one["properties"]["config"])
                    for one in self._schemas[kind]["oneOf"]
                }
                for kind in ("Trigger", "Action")
            }
        except (KeyError, TypeError) as error:
            message = "the deployment's /openapi.json does not describe triggers and actions"
            raise CommandError(message, FAILED) from error

    def knows(self, kind: str, type_: Any, key: str) -> bool:
        """Return whether the config of a type may hold `key`."""
        return key in self._keys(kind, type_)

    def problems(self, kind: str, part: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield what no deployment of this contract takes, by its steps within `part`."""
        types = self._configs[kind]
        type_, config = part.get("type"), part.get("config", {})
        if type_ not in types:
            yield ("type",), f"must be one of {', '.join(types)}"
        elif not isinstance(config, dict):
            yield ("config",), "must be an object"
        else:
            schema = types[type_]
            known = schema.get("properties", {})
            for key in config:
                if key not in known:
                    yield ("config", key), f"is not a known key ({', '.join(known) or 'none is'})"
            for key in schema.get("required", ()):
                if key not in config:
                    yield ("config", key), "is required"

    def normal(self, kind: str, type_: Any, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return a config in the contract's order without what says nothing.

        That is nulls, defaults, and empty objects that are not required. Two configs of which the
        deployment makes the same are equal so.
        """
        schema = self._configs[kind].get(type_, {})
        known = schema.get("properties", {})
        ordered = [key for key in known if key in config] + [k for k in config if k not in known]
        values = {key: _id_text(known.get(key, {}), config[key]) for key in ordered}
        needed = schema.get("required", ())
        return {
            key: value
            for key, value in values.items()
            if key in needed or not _says_nothing(known.get(key, {}), value)
        }

    def _keys(self, kind: str, type_: Any) -> Mapping[str, Any]:
        keys: Mapping[str, Any] = self._configs[kind].get(type_, {}).get("properties", {})
        return keys

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in schema:
            schema = self._schemas[schema["$ref"].removeprefix(_PREFIX)]
        return schema


def _says_nothing(schema: Mapping[str, Any], value: Any) -> bool:
    if value is None or value == {}:
        return True
    default = schema.get("default")
    return type(value) is type(default) and bool(value == default)


def _id_text(schema: Mapping[str, Any], value: Any) -> Any:
    branches = [schema, *schema.get("anyOf", ())]
    if isinstance(value, str) and any(one.get("format") == "uuid" for one in branches):
        try:
            return str(UUID(value))
        except ValueError:
            return value
    return value
