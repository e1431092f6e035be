# Everything a fresh machine needs is Python >= 3.11 and make; uv is installed into .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
UV_VERSION := 0.13.9
PYTEST := $(BIN)/python -m pytest
WORKERS ?= 4
# How long the soak breaks things; at 500 runs a minute or more.
SOAK_MINUTES ?= 10
# What the Lambda runtime brings itself, and the layer therefore does not.
IN_RUNTIME := boto3 botocore s3transfer urllib3

.PHONY: setup run build test test-artifacts test-browser bench soak lint format lock clean

setup: $(VENV)/.installed

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "whenthen needs Python >= 3.11; set PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv==$(UV_VERSION)"

$(VENV)/.installed: requirements.lock pyproject.toml | $(UV)
	$(UV) pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

run: setup
	$(BIN)/whenthen dev --demo

build: setup
	SAM_CLI_TELEMETRY=0 WHENTHEN_UV="$(abspath $(UV))" $(BIN)/sam build

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy shared functions devstack cli bench tests
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: lint
	$(PYTEST) -n $(WORKERS) --dist loadgroup

# Every function from the build output, under the emulator of Lambda's runtime interface.
test-artifacts: build
	WHENTHEN_UV="$(abspath $(UV))" $(PYTEST) -n 0 -s tests/artifacts

# The console in Debian's Chromium, against the stack on this machine. WHENTHEN_SCREENSHOTS=1 makes
# docs/images anew.
test-browser: setup
	tests/browser/prepare
	$(PYTEST) -n 0 tests/browser

# The whole fault matrix, a long random soak, long state machines, a stack without each of its
# permissions, 100,000 schedules at one instant, every combination of the template's conditions, the
# release before on this one's schema: of these `make test` draws a part.
soak: setup
	WHENTHEN_SOAK_MINUTES=$(SOAK_MINUTES) WHENTHEN_FAULTS=all WHENTHEN_CASES_PER_ROUTE=500 \
		WHENTHEN_SCHEDULES=100000 $(PYTEST) -n $(WORKERS) --dist loadgroup \
		tests/faults tests/integration/test_run_lifecycle.py tests/e2e/test_stack_permissions.py \
		tests/integration/http_api/test_http_schemathesis.py \
		tests/integration/test_schedule_load.py tests/integration/test_schedule_calendar.py \
		tests/contract/test_template_lint.py tests/integration/test_previous_release.py

# Quiet the machine first: CPU seconds drift by a third beside other work.
bench: setup
	$(BIN)/python -m bench

lock: $(UV)
	$(UV) pip compile pyproject.toml --group dev --universal --generate-hashes --no-annotate --no-header --no-emit-index-url --quiet -o requirements.lock
	$(UV) pip compile pyproject.toml --constraints requirements.lock --python-version 3.13 \
		--python-platform aarch64-manylinux_2_28 $(addprefix --no-emit-package ,$(IN_RUNTIME)) \
		--generate-hashes --no-annotate --no-header --no-emit-index-url --quiet -o layers/whenthen/requirements.lock

clean:
	rm -rf $(VENV) .whenthen .aws-sam build .pytest_cache .mypy_cache .ruff_cache
