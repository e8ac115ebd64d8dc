# One environment (.venv), one build, everything else runs in them. `make help` lists what there is.
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PORT ?= 8888
# Root in a container, as in many images: JupyterLab wants to be told that this is meant. LAB_FLAGS comes on top.
ROOT_FLAGS := $(if $(filter 0,$(shell id -u)),--allow-root)
# Hundreds of processes of the tests import the same modules: compiled once, also where an image says otherwise.
unexport PYTHONDONTWRITEBYTECODE
# Scripts call jlpm and jupyter by name.
export PATH := $(CURDIR)/$(BIN):$(PATH)

ENVIRONMENT := $(VENV)/.installed
PACKAGES := $(VENV)/.packages
NODE_PACKAGES := node_modules/.installed
FRONTEND := labextension/package.json
SOURCES := $(shell find src -type f 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help build-environment lab demo test test-python test-frontend test-ui test-compat lint types format build wheel locale api docs bench bench-accuracy bench-scheduling ui screenshots clean

help:  ## List these targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

lab: $(ENVIRONMENT)  ## Set everything up and open JupyterLab on the examples
	$(BIN)/jupyter lab --ServerApp.root_dir=examples $(if $(findstring --port,$(LAB_FLAGS)),,--port=$(PORT)) --LabApp.default_url=/lab/tree/digits_fit.ipynb $(ROOT_FLAGS) $(LAB_FLAGS)

demo: $(ENVIRONMENT)  ## The same job without a browser: estimate, submit, follow the log, compare with what was measured
	$(BIN)/python examples/demo.py

test: $(ENVIRONMENT)  ## Run every test side by side: front end, browser, Python; says at the end what is missing here
	$(BIN)/python tests/all.py $(TEST_FLAGS)

test-frontend: $(ENVIRONMENT)  ## Unit tests of the front end
	$(BIN)/jlpm test

bench-scheduling: $(ENVIRONMENT)  ## Waiting, use and failures of eight schedulers on simulated cards, six minutes; OPENB_TRACE names the public trace's folder
	$(BIN)/python -m benchmarks.scheduling

test-ui: $(ENVIRONMENT)  ## The whole walk in a real browser (Chromium)
	$(BIN)/jlpm test:ui

test-python: $(ENVIRONMENT)  ## Tests of everything in Python: real kernels, Paddle, Docker
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

test-compat: $(ENVIRONMENT)  ## The built wheel in clean environments: the oldest promised JupyterLab, one between and the newest, listed and walked
	$(BIN)/python tests/distribution/compatibility.py

lint: $(ENVIRONMENT) types  ## ruff, import rules, generated types, eslint, prettier, stylelint, tsc
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/jlpm lint:check

types: $(ENVIRONMENT)  ## mypy --strict and tsc --strict
	$(BIN)/mypy
	$(BIN)/jlpm tsc --noEmit

format: $(ENVIRONMENT)  ## Let ruff, prettier and eslint put things right
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/jlpm lint
	$(BIN)/python docs/programs/form.py --write

build-environment: $(ENVIRONMENT)  ## Environment and front end, as every other target needs them

build: $(FRONTEND)  ## Build the front end into labextension/

wheel: $(ENVIRONMENT)  ## Build the wheel and the source archive into dist/
	rm -rf dist
	$(BIN)/python -m build

locale: $(ENVIRONMENT)  ## Compile the translations (done by the build as well)
	$(BIN)/python jupyter_paddle_gpu/locale/compile.py

# Needs no built front end: one that uses a type which is only now to be generated could not be built.
api: $(PACKAGES) $(NODE_PACKAGES)  ## Write the schemas of the OpenAPI document and of policy files from the Python types, and TypeScript's types
	$(BIN)/python -m jupyter_paddle_gpu.server.schemas
	$(BIN)/python -m jupyter_paddle_gpu.services.policies.schema
	$(BIN)/jlpm api

docs: $(ENVIRONMENT)  ## Write docs/kernels.md from the declarations of operators, docs/gpu-log-records.md from the logs
	$(BIN)/python docs/programs/kernels.py
	$(BIN)/python -m benchmarks.gpu_logs.records

bench: $(ENVIRONMENT)  ## Start-up, estimates, submit, log, sizes: each prints a table and writes JSON into benchmarks/results/
	$(BIN)/python -m benchmarks
	$(BIN)/jlpm bench:ui latency

bench-accuracy: $(ENVIRONMENT)  ## The estimate against real training steps
	$(BIN)/python -m benchmarks.accuracy

ui: $(ENVIRONMENT)  ## Rebuild the front end on each change (with `make lab` in another terminal)
	$(BIN)/jlpm watch

screenshots: $(ENVIRONMENT)  ## Take the pictures in docs/images anew
	$(BIN)/jlpm screenshots

clean:  ## Remove what was built (the environment stays)
	rm -rf lib labextension dist build *.egg-info tsconfig.tsbuildinfo

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or later is needed: make PYTHON=python3.12 ...")'
	@node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null \
		|| { echo "Node 20 or later is needed (https://nodejs.org); here is $$(node --version 2>/dev/null || echo none)."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Python's packages, ours among them, before there is a front end: `labextension` may be empty for that.
$(PACKAGES): $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Getting Python's packages, Paddle (some 200 MB) and JupyterLab among them; the first time takes minutes."
	$(BIN)/python -m pip install --quiet --upgrade pip
	mkdir -p labextension
	SKIP_JUPYTER_BUILDER=1 $(BIN)/python -m pip install --quiet -c constraints.txt "jupyter-builder>=1.0" -e ".[lab,cpu,zh,examples,dev]"
	touch $@

$(NODE_PACKAGES): package.json yarn.lock .yarnrc.yml | $(PACKAGES)
	@echo "Getting Node's packages (some 180 MB)."
	set -o pipefail; $(BIN)/jlpm install --immutable | { grep -v -e YN0002 -e YN0013 -e YN0066 -e YN0086 -e "peer dependencies" || true; }
	touch $@

$(FRONTEND): $(NODE_PACKAGES) $(SOURCES)
	$(BIN)/jlpm build:prod
	touch $@

# Once more, now with the front end: it and the configuration of server and IPython go into the environment.
$(ENVIRONMENT): $(PACKAGES) $(FRONTEND)
	SKIP_JUPYTER_BUILDER=1 $(BIN)/python -m pip install --quiet --no-deps -e .
	$(BIN)/python jupyter_paddle_gpu/locale/compile.py
	touch $@
