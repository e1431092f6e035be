"""What a process reads of its environment, and what it refuses."""

from dataclasses import FrozenInstanceError

import pytest

from whenthen.settings import SettingsError, load_settings

URL = {"DATABASE_URL": "postgresql://postgres@localhost/whenthen"}
HOST = {"DATABASE_HOST": "db.internal", "DATABASE_SECRET_ARN": "arn:aws:secretsmanager:x:1:s:y"}

# variable, attribute, value when absent or empty
TEXTS = [
    ("DATABASE_HOST", "database_host", None),
    ("DATABASE_NAME", "database_name", "whenthen"),
    ("DATABASE_SECRET_ARN", "database_secret_arn", None),
    ("EVENT_STREAM_NAME", "event_stream", None),
    ("RUN_QUEUE_URL", "run_queue_url", None),
    ("NOTICE_QUEUE_URL", "notice_queue_url", None),
    ("PUBLIC_URL", "public_url", None),
    ("SECRETS_KEY_ARN", "secrets_key_arn", None),
    ("SMTP_HOST", "smtp_host", None),
    ("SMTP_SECRET_ARN", "smtp_secret_arn", None),
    ("BEDROCK_MODEL_ID", "bedrock_model_id", None),
    ("POWERTOOLS_LOG_LEVEL", "log_level", "INFO"),
    ("POWERTOOLS_METRICS_NAMESPACE", "metrics_namespace", "whenthen"),
]
# variable, attribute, value when absent or empty, lowest, highest
NUMBERS = [
    ("DATABASE_PORT", "database_port", 5432, 1, 65_535),
    ("DATABASE_POOL_SIZE", "database_pool_size", 5, 1, 100),
    ("AUTO_RUN_MAX_RETRIES", "max_retries", 8, 1, 1_000),
    ("AUTOMATION_MAX_DEPTH", "max_depth", 5, 1, 100),
    ("AUTOMATIONS_WORKER_CONCURRENCY", "worker_concurrency", 5, 1, 10),
    ("AUTOMATION_MAX_RUNS_PER_MINUTE", "runs_per_minute", 600, 1, 1_000_000),
    ("AUTOMATION_MAX_CHAINED_RUNS_PER_DAY", "chained_runs_per_day", 10_000, 1, 1_000_000_000),
    ("RETENTION_DAYS", "retention_days", 30, 8, 3_650),
    ("SMTP_PORT", "smtp_port", 587, 1, 65_535),
]


def test_a_url_is_read_as_it_is_written() -> None:
    assert load_settings(URL).database_url == "postgresql://postgres@localhost/whenthen"


@pytest.mark.parametrize(("name", "attribute", "default"), TEXTS)
def test_a_text_is_read_from_its_variable_and_empty_is_absent(
    name: str, attribute: str, default: str | None
) -> None:
    assert getattr(load_settings(URL), attribute) == default
    assert getattr(load_settings({**URL, name: ""}), attribute) == default
    assert getattr(load_settings({**URL, name: "a text"}), attribute) == "a text"


def test_the_environment_may_hold_anything_else() -> None:
    assert load_settings({**URL, "PATH": "/bin", "AWS_REGION": "eu-west-1"}) == load_settings(URL)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        load_settings(URL).max_depth = 6  # type: ignore[misc]


def test_a_host_with_a_secret_stands_in_for_a_url() -> None:
    settings = load_settings(HOST)
    assert (settings.database_url, settings.database_host) == (None, "db.internal")


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"DATABASE_URL": ""},
        {"DATABASE_HOST": HOST["DATABASE_HOST"]},
        {"DATABASE_SECRET_ARN": HOST["DATABASE_SECRET_ARN"]},
        {**HOST, "DATABASE_HOST": ""},
        {**HOST, "DATABASE_SECRET_ARN": ""},
    ],
)
def test_a_database_must_be_named(environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=r"DATABASE_URL, or DATABASE_HOST with"):
        load_settings(environ)


@pytest.mark.parametrize(("name", "attribute", "default", "low", "high"), NUMBERS)
def test_a_number_may_be_anything_from_its_lowest_to_its_highest(
    name: str, attribute: str, default: int, low: int, high: int
) -> None:
    assert getattr(load_settings(URL), attribute) == default
    # Neither of the two that bound each other is in the way of the other's range.
    room = {
        "DATABASE_POOL_SIZE": {"AUTOMATIONS_WORKER_CONCURRENCY": "1"},
        "AUTOMATIONS_WORKER_CONCURRENCY": {"DATABASE_POOL_SIZE": "100"},
    }.get(name, {})
    for text, value in [
        ("", default),
        (str(low), low),
        (str(low + 1), low + 1),
        (str(high), high),
        (f"0{low}", low),
    ]:
        assert getattr(load_settings({**URL, **room, name: text}), attribute) == value


@pytest.mark.parametrize(
    ("name", "low", "high"), [(name, low, high) for name, _, _, low, high in NUMBERS]
)
def test_a_number_out_of_its_range_is_refused_by_name(name: str, low: int, high: int) -> None:
    for value in (low - 1, high + 1):
        with pytest.raises(SettingsError, match=rf"^{name} must lie within {low}\.\.{high}$"):
            load_settings({**URL, name: str(value)})


# The last one is a digit five, but no ASCII one.
@pytest.mark.parametrize(
    "text", ["-1", "+5", "5.0", " 5", "5 ", "1e1", "five", "0x5", "1_0", "\uff15"]
)
@pytest.mark.parametrize("name", [name for name, *_ in NUMBERS])
def test_what_is_no_whole_number_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(SettingsError, match=rf"^{name} must be a whole number$"):
        load_settings({**URL, name: text})


@pytest.mark.parametrize(
    ("text", "value"),
    [("", True), ("true", True), ("True", True), ("false", False), ("FALSE", False)],
)
def test_encryption_is_on_unless_it_is_switched_off(text: str, value: bool) -> None:  # noqa: FBT001
    assert load_settings({**URL, "DATABASE_SSL": text}).database_ssl is value


@pytest.mark.parametrize(("text", "value"), [("", False), ("false", False), ("true", True)])
def test_a_tick_takes_no_time_unless_that_is_switched_on(text: str, value: bool) -> None:  # noqa: FBT001
    assert load_settings(URL).accept_tick_now is False
    assert load_settings({**URL, "ACCEPT_TICK_NOW": text}).accept_tick_now is value


@pytest.mark.parametrize("text", ["0", "1", "no", "off", " false"])
def test_a_flag_that_is_neither_true_nor_false_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match=r"^DATABASE_SSL must be true or false$"):
        load_settings({**URL, "DATABASE_SSL": text})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("/", None),
        ("https://a.example", "https://a.example"),
        ("https://a.example/", "https://a.example"),
        ("https://a.example/api//", "https://a.example/api"),
    ],
)
def test_the_public_url_has_no_slash_at_its_end(text: str, value: str | None) -> None:
    assert load_settings({**URL, "PUBLIC_URL": text}).public_url == value


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("", []),
        (" , ,", []),
        ("localhost", ["localhost"]),
        ("A.Example, b.test ,a.example", ["a.example", "b.test"]),
        ("127.0.0.1", ["127.0.0.1"]),
        ("::1,[FE80::1]", ["::1", "fe80::1"]),
    ],
)
def test_allowed_hosts_are_a_list_of_names_and_addresses(text: str, hosts: list[str]) -> None:
    settings = load_settings({**URL, "WEBHOOK_ALLOW_HOSTS": text})
    assert settings.webhook_allow_hosts == set(hosts)


@pytest.mark.parametrize(
    "text",
    [
        "http://a.example",
        "a.example/path",
        "a.example:8080",
        "b.test,a.example:8080",
        "[::1]:8080",
        "a.example b.test",
    ],
)
def test_allowed_hosts_with_a_scheme_a_port_or_a_path_are_refused(text: str) -> None:
    with pytest.raises(SettingsError, match=r"^WEBHOOK_ALLOW_HOSTS must be host names or addr"):
        load_settings({**URL, "WEBHOOK_ALLOW_HOSTS": text})


def test_a_refusal_never_repeats_the_value() -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings({**URL, "DATABASE_PORT": "hunter2"})
    assert "hunter2" not in str(refused.value)


def test_a_pool_smaller_than_a_batch_is_refused() -> None:
    with pytest.raises(SettingsError, match="DATABASE_POOL_SIZE must be at least"):
        load_settings(
            {
                "DATABASE_URL": "postgresql:///x",
                "DATABASE_POOL_SIZE": "4",
                "AUTOMATIONS_WORKER_CONCURRENCY": "5",
            }
        )


@pytest.mark.parametrize(("text", "limit"), [("", 0), ("0", 0), ("1", 1), ("1000000", 1_000_000)])
def test_requests_are_without_limit_unless_one_is_set(text: str, limit: int) -> None:
    assert load_settings({**URL, "API_REQUESTS_PER_MINUTE": text}).api_requests_per_minute == limit


@pytest.mark.parametrize("text", ["-1", "1000001", "x"])
def test_a_limit_of_requests_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="API_REQUESTS_PER_MINUTE"):
        load_settings({**URL, "API_REQUESTS_PER_MINUTE": text})


ISSUER = {"OIDC_ISSUER": "https://id.example.com/", "OIDC_AUDIENCE": "whenthen"}


def test_an_issuer_is_kept_as_it_is_written() -> None:
    settings = load_settings({**URL, **ISSUER})
    assert (settings.oidc_issuer, settings.oidc_audience) == ("https://id.example.com/", "whenthen")
    without = load_settings({**URL, "OIDC_ISSUER": "", "OIDC_AUDIENCE": ""})
    assert (without.oidc_issuer, without.oidc_audience) == (None, None)


@pytest.mark.parametrize("missing", list(ISSUER))
def test_an_issuer_and_an_audience_come_together(missing: str) -> None:
    with pytest.raises(SettingsError, match="OIDC_ISSUER and OIDC_AUDIENCE"):
        load_settings({**URL, **ISSUER, missing: ""})


def test_the_console_signs_in_with_an_issuer_only() -> None:
    assert load_settings({**URL, **ISSUER}).oidc_client_id is None
    with_client = load_settings({**URL, **ISSUER, "OIDC_CLIENT_ID": "console"})
    assert with_client.oidc_client_id == "console"
    with pytest.raises(SettingsError, match="OIDC_CLIENT_ID needs OIDC_ISSUER"):
        load_settings({**URL, "OIDC_CLIENT_ID": "console"})


@pytest.mark.parametrize("url", ["http://id.example.com", "id.example.com", "ftp://x", "https://"])
def test_an_issuer_is_reached_by_https(url: str) -> None:
    with pytest.raises(SettingsError, match="https"):
        load_settings({**URL, **ISSUER, "OIDC_ISSUER": url})


@pytest.mark.parametrize("sender", ["ada@example.com", "a+b@xn--exmple-cua.com"])
def test_mail_is_from_an_address(sender: str) -> None:
    assert load_settings(URL).mail_from is None
    assert load_settings({**URL, "MAIL_FROM": sender}).mail_from == sender


@pytest.mark.parametrize(
    "sender", ["ada", "Ada <ada@example.com>", "ada@exämple.com", "a@b.com,c@d.com", "a@b.com\n"]
)
def test_mail_is_from_nothing_else(sender: str) -> None:
    with pytest.raises(SettingsError, match="MAIL_FROM must be an e-mail address in ASCII"):
        load_settings({**URL, "MAIL_FROM": sender})


@pytest.mark.parametrize("security", ["starttls", "tls", "none"])
def test_a_mail_server_is_spoken_to_by_one_of_three_ways(security: str) -> None:
    assert load_settings(URL).smtp_security == "starttls"
    assert load_settings({**URL, "SMTP_SECURITY": security}).smtp_security == security
    for unknown in ("ssl", "TLS", "true"):
        with pytest.raises(SettingsError, match="SMTP_SECURITY must be one of starttls, tls, none"):
            load_settings({**URL, "SMTP_SECURITY": unknown})


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_a_password_for_the_mail_server_needs_a_secured_way(security: str) -> None:
    secret = {**URL, "SMTP_SECRET_ARN": "arn:aws:secretsmanager:x:1:s:y"}
    assert load_settings({**secret, "SMTP_SECURITY": security}).smtp_secret_arn
    with pytest.raises(SettingsError, match="would show the password"):
        load_settings({**secret, "SMTP_SECURITY": "none"})
