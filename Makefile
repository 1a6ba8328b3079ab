# Each target sets itself up: on a machine with Python 3.10+ and make nothing else is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
GUIDE := examples/trail-guide
# Settings of the user's own that would put packages elsewhere than in .venv, or others before them.
unexport PIP_USER PIP_TARGET PIP_PREFIX PYTHONHOME PYTHONPATH

.PHONY: demo test check docs bench clean

demo: $(VENV)/demo
	@echo "== mdvision index $(GUIDE)"
	@$(BIN)/python -m mdvision index $(GUIDE)
	@echo
	@echo "== mdvision read $(GUIDE)/guide.md --section '## The route' --out demo-out"
	@$(BIN)/python -m mdvision read $(GUIDE)/guide.md --section "## The route" --out demo-out
	@echo "(the pictures are in demo-out)"
	@echo
	@echo "== what a model gets from the MCP server"
	@$(BIN)/python examples/talk_to_server.py

test: $(VENV)/test
	$(BIN)/python -m pytest --cov

check: $(VENV)/dev
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .
	$(BIN)/python -m mypy
	$(BIN)/python -m pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/python -m codespell_lib
	$(BIN)/python scripts/check_size.py
	$(BIN)/python scripts/check_wheel.py

docs: $(VENV)/test
	$(BIN)/python -m pytest --quiet README.md docs mdvision tests/test_readme.py

bench: $(VENV)/test
	$(BIN)/python -m benchmark.doubling
	$(BIN)/python -m benchmark.fuzz_structure

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "mdvision needs Python 3.10 or later: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "python3-venv is missing: install it, or set PYTHON."; rm -rf $(VENV); exit 1; }

$(VENV)/demo: $(VENV)/bin/python pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[mcp]"
	@touch $@

$(VENV)/test: $(VENV)/bin/python pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	@touch $@ $(VENV)/demo

$(VENV)/dev: $(VENV)/bin/python pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@ $(VENV)/test $(VENV)/demo

clean:
	rm -rf $(VENV) demo-out dist build .coverage
