"""A user and a password from Secrets Manager: the database's, or the mail server's."""

from typing import Any

from whenthen.aws.clients import make_client
from whenthen.domain import json_text


def read_credentials(secret_arn: str, client: Any = None) -> tuple[str, str]:
    """Return (user, password) of the secret, whose text is `{"username": …, "password": …}`.

    Source: the shape that RDS and Aurora write for a managed master user.
    """
    asked = client or make_client("secretsmanager")
    answer = asked.get_secret_value(SecretId=secret_arn)
    fields = json_text.loads(answer["SecretString"])
    return fields["username"], fields["password"]
