"""What each function may load before its first invocation: cold starts are a promise."""

import subprocess
import sys

import pytest

# Loaded on first use only, wherever they are needed.
# (botocore itself is named by Powertools for its user agent; its client is what costs.)
NEVER = {"boto3", "httpx", "httpcore", "re2", "yaml", "requests", "jwt", "joserfc", "smtplib"}
# What a function's own work surely needs.
ALLOWED = {"pydantic", "sqlalchemy", "pg8000", "aws_lambda_powertools"}
HEAVY = NEVER | ALLOWED

FUNCTIONS = {
    "db_migrator": {"sqlalchemy", "pg8000", "pydantic"},
    "stream_matcher": {"sqlalchemy", "pg8000"},
    "run_executor": {"sqlalchemy", "pg8000", "pydantic"},
    "schedule_reconciler": {"sqlalchemy", "pg8000", "pydantic"},
    "run_watchdog": {"sqlalchemy", "pg8000", "pydantic"},
    "dlq_notifier": {"sqlalchemy", "pg8000"},
    "http_api": {"sqlalchemy", "pg8000", "pydantic", "aws_lambda_powertools"},
}


def loaded_by(module: str) -> set[str]:
    """The top-level packages in memory after a fresh interpreter has imported `module`."""
    script = (
        f"import sys, {module}; print(' '.join({{name.split('.')[0] for name in sys.modules}}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(("function", "allowed"), FUNCTIONS.items())
def test_a_function_loads_nothing_heavy_that_it_may_not_need(
    function: str, allowed: set[str]
) -> None:
    assert loaded_by(f"{function}.handler") & HEAVY <= allowed
