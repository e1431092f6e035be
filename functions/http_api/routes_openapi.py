"""The route of the OpenAPI document."""

from http_api.bodies import JsonObject
from http_api.dispatch import PublicCall
from http_api.routing import public_route


@public_route("GET", "/openapi.json", answers="Document")
def openapi(_: PublicCall) -> JsonObject:
    from http_api.openapi import document  # noqa: PLC0415  # no other request waits for it

    return document()
