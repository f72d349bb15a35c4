# Everything a fresh machine needs is installed by the targets themselves; a second call skips what is there.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.taskloom-installed
export TASKLOOM_DATA ?= taskloom-data
# Compiled modules are kept whatever the environment says: builds and tests start many processes that import the same.
export PYTHONDONTWRITEBYTECODE :=
TEST_APPLICATIONS ?= tiddlywiki,drawio,supervisor
PYTEST_WORKERS ?= 2
MILLION ?= 1000000
# The main job takes the core subtasks of each application in the first world and twenty-four others, replays distinct components
# for so many actions, and whole tasks for one in fifty; `taskloom build` takes all subtasks, in the first world only.
DESKTOP_TASKS ?= 400
DESKTOP_PLATFORM ?= linux_desktop+web_browser
DESKTOP_WORLDS ?= ["bakery-1","household-1"]
RUN_TASKS ?= 550
RUN_REPLAY_SHARE ?= 0.02
RUN_REPLAY_ACTIONS ?= 1400
RUN_WORLDS ?= ["bakery-1","household-1","research-1","shop-1","software-1","club-1","bakery-2","household-2","research-2","shop-2","software-2","club-2","bakery-3","household-3","research-3","shop-3","software-3","club-3","bakery-4","household-4","research-4","shop-4","software-4","club-4"]

##@ The two commands
.PHONY: run
run: setup  ## Set up, then build a dataset from real applications with the offline provider and print the funnel
	@$(BIN)/taskloom install || [ $$? -eq 1 ]
	@$(BIN)/taskloom build --tasks $(RUN_TASKS) --set exploration.core_only=true --set composition.pattern_share=0.06 \
	  --set replay_share=$(RUN_REPLAY_SHARE) --set replay.actions=$(RUN_REPLAY_ACTIONS) --set replay.covered_only=true \
	  --set 'worlds=$(RUN_WORLDS)' $(ARGS)
	@echo "Applications of a Linux desktop: make desktop (docs/desktop.md)" >&2

.PHONY: desktop
desktop: setup  ## The same from applications of a Linux desktop, in containers of podman or docker, and of the web together (docs/desktop.md)
	@$(BIN)/taskloom install --platform $(DESKTOP_PLATFORM) || [ $$? -eq 1 ]
	@$(BIN)/taskloom build --set platform=$(DESKTOP_PLATFORM) --set environments=4 --tasks $(DESKTOP_TASKS) \
	  --set exploration.core_only=true --set composition.maximum_size=10 --set composition.maximum_ends=3 \
	  --set composition.maximum_readers=3 --set replay.covered_only=true --set 'worlds=$(DESKTOP_WORLDS)' $(ARGS)

.PHONY: test
test: setup  ## Set up what tests need, then run all tests but the slow ones
	@$(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadfile --no-loadscope-reorder -m "not slow" $(ARGS)

.PHONY: test-all
test-all: setup  ## All tests, the slow ones too: kills, attacks in full, real applications (what CI runs)
	@$(BIN)/taskloom install --only $(TEST_APPLICATIONS) || [ $$? -eq 1 ]
	@export TESTS_EXTENT=all; \
	$(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadfile --no-loadscope-reorder -rfE $(ARGS) || { \
	  code=$$?; [ $$code -eq 1 ] || exit $$code; \
	  printf '\nThe tests named above failed beside others. They run once more, alone; only a second failure counts.\n'; \
	  $(BIN)/python -m pytest --last-failed --last-failed-no-failures none -rfE; }

##@ Development
.PHONY: check
check: setup  ## Format, lint, types, import rules and tests: what must be green before a commit
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(MAKE) test

.PHONY: format
format: setup  ## Format the code and mend what ruff can mend
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

.PHONY: bench
bench: setup  ## Run the benchmarks; prints ratios against named baselines and writes benchmarks/results
	@$(BIN)/python -m benchmarks $(ARGS)

.PHONY: million
million: setup  ## Write a million synthetic tasks to taskloom-data/million, once, and measure queries, search, sets and export over them
	@$(BIN)/python -m benchmarks.dataset_scale --tasks $(MILLION) --warehouse $(TASKLOOM_DATA)/million $(ARGS)

.PHONY: bench-calls
bench-calls: setup  ## Benchmark model calls against a local server
	@$(BIN)/python -m benchmarks model_calls $(ARGS)

.PHONY: catalogue
catalogue: setup  ## Perform every curated subtask and every chain in all installed applications (most of an hour)
	@TESTS_EXTENT=catalogue $(BIN)/python -m pytest -n $(PYTEST_WORKERS) tests/environments/test_catalog_applications.py $(ARGS)

.PHONY: fuzz
fuzz: setup  ## Fuzz everything that parses hostile text, for a bounded time
	@HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest tests/fuzz $(ARGS)

.PHONY: docs
docs: setup  ## Write the generated pages under docs/
	@$(BIN)/python -m scripts.documentation
	@$(BIN)/python -m benchmarks.quality_table

##@ Housekeeping
.PHONY: setup
setup: $(STAMP)  ## Virtual environment with the locked dependencies

$(STAMP): requirements.lock pyproject.toml
	@scripts/create_venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --requirement requirements.lock
	@# On all cores, and without packages' own tests; some packages bring files that are no Python.
	@$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib || true
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

.PHONY: lock
lock: setup  ## Write requirements.lock anew from what is installed (names and versions only)
	@$(BIN)/python -m pip freeze --exclude-editable --disable-pip-version-check | LC_ALL=C sort -f > requirements.lock
	@! grep -E '://|@' requirements.lock

.PHONY: clean
clean:  ## Remove the virtual environment and caches; datasets and applications under $(TASKLOOM_DATA) stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find . -name __pycache__ -not -path './$(TASKLOOM_DATA)/*' -prune -exec rm -rf {} +

.PHONY: help
help:  ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
