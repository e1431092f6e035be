"""The database's user and password, from Secrets Manager."""

from whenthen.aws.clients import make_client
from whenthen.domain import json_text


def read_credentials(secret_arn: str) -> tuple[str, str]:
    """Return (user, password) of the secret, whose text is `{"username": …, "password": …}`.

    Source: the shape that RDS and Aurora write for a managed master user.
    """
    answer = make_client("secretsmanager").get_secret_value(SecretId=secret_arn)
    fields = json_text.loads(answer["SecretString"])
    return fields["username"], fields["password"]
