"""The event by which an operator makes the first workspace of a deployment."""

from typing import Literal

from whenthen.domain.schemas.base import Model, Name
from whenthen.domain.schemas.people import Address


class BootstrapEvent(Model):
    """Who becomes OWNER of which workspace; `another` makes one although there is one already."""

    action: Literal["bootstrap"]
    workspace: Name
    email: Address
    another: bool = False
