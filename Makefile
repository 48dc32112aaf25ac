# Two commands set everything up: `make demo` shows the tool, `make test` tests it.
# All paths are relative, so the checkout may lie in a path with a space.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check
KNOW := $(PY) -m knowrepo

# llama-cpp-python is built from source without what is not used here: about
# eight minutes on two cores. `make demo LLAMA_WHEEL=…` uses a wheel instead.
LLAMA ?= llama-cpp-python==0.3.36
LLAMA_WHEEL ?=
export CMAKE_ARGS ?= -DLLAVA_BUILD=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF \
	-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_CURL=OFF

.PHONY: demo test lint check pytest venv core full tools clean

# -- installing: each step leaves a mark in .venv and is skipped while it is there

venv: $(VENV)/.venv
$(VENV)/.venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PY) -m ensurepip --upgrade >/dev/null
	@$(PIP) install --quiet --upgrade 'pip>=23.1'
	@touch $@

core: $(VENV)/.core
$(VENV)/.core: pyproject.toml $(VENV)/.venv
	@echo "installing the light core"
	@$(PIP) install --quiet --editable .
	@touch $@

build/wheels/.llama:
	@mkdir -p build/wheels
	@if [ -n "$(LLAMA_WHEEL)" ]; then cp "$(LLAMA_WHEEL)" build/wheels/; else \
		echo "building $(LLAMA) from source; this takes minutes, once"; \
		$(PIP) wheel --quiet --no-deps --wheel-dir build/wheels '$(LLAMA)'; fi
	@touch $@

full: $(VENV)/.full
$(VENV)/.full: $(VENV)/.core build/wheels/.llama
	@echo "installing what embeds"
	@$(PIP) install --quiet --find-links build/wheels --only-binary llama-cpp-python llama-cpp-python
	@$(PIP) install --quiet --editable '.[all]'
	@touch $@

tools: $(VENV)/.tools
$(VENV)/.tools: $(VENV)/.full build/wheelhouse/.core
	@echo "installing what tests"
	@$(PIP) install --quiet --editable '.[all,dev]'
	@touch $@

# The core as wheels, so that tests can install it into clean environments offline.
build/wheelhouse/.core: pyproject.toml $(VENV)/.venv
	@mkdir -p build/wheelhouse
	@$(PIP) wheel --quiet --wheel-dir build/wheelhouse . 'hatchling>=1.26' 'editables'
	@rm -f build/wheelhouse/knowrepo-*.whl
	@touch $@

# -- showing

demo: $(VENV)/.core
	@git rev-parse --git-dir >/dev/null 2>&1 || git init --quiet .
	@echo; echo '== 1. The structured layer: tags and titles, no model, no search'
	@echo '$$ know recall tag:git -k 3'; $(KNOW) recall tag:git -k 3
	@echo '$$ know recall why sqlite and duckdb'; $(KNOW) recall why sqlite and duckdb
	@echo; echo '== 2. Words, over concepts and archived sessions'
	@echo '$$ know recall database is locked -k 3'; $(KNOW) recall database is locked -k 3
	@echo; echo '== 3. Meaning: the model is built and everything is embedded, once'
	@$(MAKE) --silent --no-print-directory $(VENV)/.full
	@$(KNOW) model pull
	@$(KNOW) index
	@echo; echo '$$ know recall $(MEANING) -k 3'; $(KNOW) recall $(MEANING) -k 3
	@echo; echo '== 4. The body of the first hit, and what was said around it'
	@id=$$($(KNOW) recall --quiet $(MEANING) -k 1 | sed -n 's/^\[\([0-9a-f]*\)\].*/\1/p'); \
		echo "$$ know recall --get $$id"; $(KNOW) recall --get $$id; \
		echo "$$ know recall --timeline $$id --window 2"; $(KNOW) recall --timeline $$id --window 2
	@echo; echo 'Your own sessions next, in a git repository of yours:'
	@echo '    know init --project ~/code/app && know archive --all && know index'
	@echo 'where know is $(VENV)/bin/know of this folder.'

MEANING := how do we avoid publishing passphrases

# -- testing

test: lint pytest

lint: $(VENV)/.tools
	@$(PY) -m ruff check tools tests
	@$(PY) -m ruff format --check --quiet tools tests
	@$(PY) -m mypy --no-error-summary
	@$(VENV)/bin/lint-imports --no-cache >/dev/null || $(VENV)/bin/lint-imports --no-cache
	@$(KNOW) check
	@$(KNOW) tags check
	@$(KNOW) scan
	@$(KNOW) eval --lexical --quiet

pytest: $(VENV)/.tools
	@$(KNOW) model pull
	@$(PY) -m pytest $(ARGS)

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
