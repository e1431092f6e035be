"""Bodies of the routes about who takes part: workspaces, members, grants."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from whenthen.domain.kinds import Role
from whenthen.domain.rules.mail_address import ADDRESS_MAX_CHARS, is_mail_address
from whenthen.domain.schemas.base import WORD, Model, Name


def _check_address(text: str) -> str:
    if not is_mail_address(text):
        raise PydanticCustomError("email", "must be an e-mail address")
    return text


Address = Annotated[str, Field(max_length=ADDRESS_MAX_CHARS), AfterValidator(_check_address)]


class CreateWorkspace(Model):
    name: Name


class AddMember(Model):
    """A person by their address; one who is a member already gets the new role."""

    email: Address
    role: Annotated[Role, WORD]


class AddGrant(Model):
    """A person by their address; one who has a grant already gets the new level."""

    email: Address
    level: Literal["VIEW", "EDIT"]
