# make demo [SITE=folder] [PORT=8000]   a running Anchorline with a sample site, or with your own crawl
# make demo PLAY=1                      the sample after two releases and two later crawls: links that are live or lost
# make demo URL=https://www.example.org    a site that is crawled first
# make test [ARGS="tests/x.py -k name"] the whole test suite
# make test-all                         and what takes long: more examples, faults, upgrades, every journey; nightly
# make test-fast                        what needs no database, browser or model: under a minute
# make test-js [ARGS=tests/js/undo.test.js]   the units of static/js alone, in seconds
# make faults [ARGS="--repeat 10"]       servers and workers killed in the middle of the work, for an hour
# make fuzz [FILES=2300]                as many damaged files, and what became of them
# make screenshots                      the pictures of the docs, taken anew from a demo
# make lint                             ruff, mypy, import-linter
# make hooks                            ruff and import-linter before each commit, by pre-commit
# make approval                         the approval model anew from the judged suggestions, and how good it is
# make links                            the ranker for sites without links anew from other sites' links, and how good it is
# make bench [ARGS="--share 0.01"]       speed and memory as ratios; at full size it takes hours
# make lock                             the lock files anew from pyproject.toml
# make clean                            removes the virtual environment; make clean-data removes the data
#
# TORCH=cpu or cuda: the build of PyTorch, if not the one this machine can use; TORCH_INDEX=URL: where it comes from.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# The first of these that is Python 3.11 or newer.
IS_NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
ifndef PYTHON
PYTHON := $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c '$(IS_NEW_ENOUGH)' 2>/dev/null && { echo "$$python"; break; }; done)
endif
export PIP_DISABLE_PIP_VERSION_CHECK := 1
TORCH ?= auto
PORT ?= 8000
WORKERS ?= 2
TEST_PROCESSES ?= 3
# Where this is set, each process that the tests start would compile the product anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help install demo test test-all test-fast test-js fuzz faults screenshots lint hooks approval links bench lock clean clean-data

help:
	@sed -n '/^$$/q; s/^# //p' Makefile

install: .venv/installed

# Nothing is resolved: the locks name everything. Which build of PyTorch is taken: docker/install.py.
.venv/installed: requirements.lock requirements-dev.lock
	@"$(PYTHON)" -c '$(IS_NEW_ENOUGH)' 2>/dev/null || { echo "Anchorline needs Python 3.11 or newer," \
	  "found: $(or $(PYTHON),none). Install it, or name it: make install PYTHON=/path/to/python3.12" >&2; exit 1; }
	@echo "Installing into .venv (a few minutes the first time) ..."
	@.venv/bin/python -c '' 2>/dev/null || "$(PYTHON)" -m venv --clear .venv
	@.venv/bin/python docker/install.py requirements.lock requirements-dev.lock --torch "$(TORCH)" \
	  --torch-index "$(TORCH_INDEX)"
	@touch .venv/installed

demo: install
	@exec .venv/bin/python manage.py demo --port $(PORT) --workers $(WORKERS) $(if $(SITE),--site "$(SITE)") \
	  $(if $(URL),--url "$(URL)") $(if $(PLAY),--play)

# Plain assertions: to have pytest rewrite those of all tests takes each process twenty seconds. What failed runs once
# more, to say what the values were.
test: install
	@.venv/bin/python -m tests.chromium
	.venv/bin/python -m pytest -n $(TEST_PROCESSES) --assert plain --durations 15 $(ARGS) || { \
	  .venv/bin/python -m pytest --last-failed --last-failed-no-failures none $(ARGS); exit 1; }

test-all: install
	@.venv/bin/python -m tests.chromium
	TEST_ALL=1 .venv/bin/python -m pytest -n $(TEST_PROCESSES) --durations 15 $(ARGS)

test-fast: install
	.venv/bin/python -m pytest --fast -n $(TEST_PROCESSES) $(ARGS)

test-js: install
	.venv/bin/python -m tests.js $(ARGS)

screenshots: install
	@.venv/bin/python -m tests.chromium
	.venv/bin/python -m tests.screenshots

faults: install
	.venv/bin/python -m tests.faults $(ARGS)

FILES ?= 2300

fuzz: install
	LOG_LEVEL=ERROR FUZZ_FILES=$(FILES) .venv/bin/python -m pytest -s -p no:logging tests/ingest/test_damaged_files.py

lint: install
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

hooks: install
	.venv/bin/pre-commit install

approval: install
	.venv/bin/python bench/panel/train.py --check

links: install
	.venv/bin/python bench/links/train.py --check

bench: install
	.venv/bin/python bench/all.py $(ARGS)

# The locks hold for every platform (markers tell them apart) and for every build of PyTorch: what its CUDA build needs
# is left out, and comes with PyTorch itself where that build is installed.
UV_COMPILE := .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	--no-annotate --no-header --no-emit-index-url --no-emit-find-links --upgrade
CUDA := '^(nvidia-|cuda-|triton)'

lock: install
	$(UV_COMPILE) pyproject.toml | grep -vE $(CUDA) > requirements.lock.new
	$(UV_COMPILE) pyproject.toml --group dev --constraints requirements.lock.new | grep -vE $(CUDA) \
	  | grep -vxFf requirements.lock.new > requirements-dev.lock
	mv requirements.lock.new requirements.lock

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

clean-data:
	rm -rf "$$("$(PYTHON)" -m tests.scratch)" var
