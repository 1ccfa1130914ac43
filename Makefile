# callscope: every task of the project. `make help` lists them.
# Each target sets up what it needs from nothing (git, Python 3.11+ with pip, make); the second time that costs nothing.

PYTHON  ?= python3
WORKERS ?= 2
ARGS    ?=
BENCH   ?= $(wildcard benchmarks/*.py)

BIN     := .venv/bin
COMPILE  = $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 \
           --generate-hashes --no-emit-index-url --no-header --quiet $(UPGRADE)

.DEFAULT_GOAL := help
.PHONY: help run test unit soak bench lint format format-check types imports schemas provider-docs docs lock clean env-run env-dev system

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile

run: env-run ## the main job: the bundled suite on the embedded models, no API key (ARGS="…" is handed on)
	$(BIN)/callscope run $(ARGS)

test: lint format-check types imports unit ## everything CI checks

unit: env-dev system ## the tests with branch coverage and its gate (ARGS="tests/x.py -k …" narrows, then without the gate)
ifeq ($(strip $(ARGS)),)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m "not soak" --cov --cov-report=
	@mkdir -p build
	@$(BIN)/python -m coverage json --quiet -o build/coverage.json
	$(BIN)/python scripts/coverage_gate.py build/coverage.json
else
	$(BIN)/python -m pytest -m "not soak" $(ARGS)
endif

soak: env-dev system ## the long fault tests, with many more random examples
	HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest -m soak $(ARGS)

bench: env-dev ## the benchmarks of callscope itself (BENCH=benchmarks/start.py for one, ARGS="…" for its options)
	@for file in $(BENCH); do echo "$$file"; $(BIN)/python $$file $(ARGS) || exit 1; done

lint: env-dev ## ruff's rules
	$(BIN)/ruff check .

format: env-dev ## write the one formatting
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only --quiet .

format-check: env-dev ## fail where `make format` would change something
	$(BIN)/ruff format --check .

types: env-dev ## mypy, strict
	$(BIN)/mypy
	$(BIN)/mypy scripts

imports: env-dev ## imports point one way
	$(BIN)/lint-imports

schemas: env-dev ## write the published JSON Schemas again, into docs/schemas
	$(BIN)/python -c "from callscope.formats import write_all; write_all('docs/schemas')"

provider-docs: env-dev ## write the tables of docs/providers again, from the catalogue
	$(BIN)/python scripts/provider_docs.py

docs: env-dev ## the documentation as a site, in site/
	$(BIN)/zensical build --clean --strict

lock: env-dev ## resolve the locks again (UPGRADE=--upgrade takes newer versions)
	$(COMPILE) --all-extras --group dev -o requirements/dev.lock
	$(COMPILE) --extra local --extra frame --extra stats --group build -c requirements/dev.lock -o requirements/run.lock

clean: ## remove everything that make made, results excepted
	rm -rf .venv build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage .coverage.*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

env-run:
	@$(PYTHON) scripts/setup_env.py run

env-dev:
	@$(PYTHON) scripts/setup_env.py dev

system:
	@sh scripts/system_packages.sh
