# `make run` and `make test` do all the set-up they need. `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=

.PHONY: help setup run test lint proof languages bare-trial windows-trial bench peers peers-clients format papers package install uninstall faults

help:
	@echo "make run     set up if needed, then open the window (without a screen: a demo under demo/)"
	@echo "make test    set up if needed, then the test suite (some 15 minutes on 2 cores)"
	@echo "make lint    ruff, mypy, import-linter, pip-audit"
	@echo "make proof   the long versions of the sampled tests, make languages, make bare-trial, make windows-trial"
	@echo "make languages  the window's tests in the pseudo-locale, and mirrored"
	@echo "make bare-trial  the README's own lines on a bare Debian 12 and 13, as root and not (3 hours; root;"
	@echo "             ONLY=\"debian12-root:run\" for some, ARGS=\"--again --cached\" to go on)"
	@echo "make windows-trial  the program and its tests with Windows' own Python, on wine (40 minutes the first time; root;"
	@echo "             ONLY=\"answer names\" for some, ARGS=--again for all again)"
	@echo "make faults  kills, damages, hostile inputs, borders, a monkey and a soak: tried, survived, text lost (2 hours)"
	@echo "make bench   the benchmarks (ONLY=\"startup decode\" for some); their table is build/bench/table.md"
	@echo "make peers   llama.cpp's own programs, built for comparison"
	@echo "make papers  the documents that are made from the code"
	@echo "make install this checkout in the menu and as the command headstart; make uninstall"
	@echo "make package a folder and, on Linux, a .deb that need no Python, under build/package/"
	@echo "make setup   only the set-up; GPU=cuda, vulkan, metal or none chooses what llama.cpp is compiled for"

setup: export GPU := $(GPU)
setup:
	@$(PYTHON) packaging/bootstrap.py

run: setup
	@exec $(BIN)/python -P -m headstart $(ARGS)

test: setup
	@QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest -m "not proof" -n 2 --dist worksteal $(ARGS)

proof: setup
	@QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest -m proof --timeout=3600 -o faulthandler_timeout=4000 $(ARGS)
	@$(MAKE) --no-print-directory languages
	@$(PYTHON) packaging/bare_trial.py --where-possible --cached
	@$(BIN)/python packaging/windows_trial.py --where-possible

# the window's tests in longer words, and once more from right to left
languages: setup
	@for one in qps qps-mirrored; do HEADSTART_LANGUAGE=$$one QT_QPA_PLATFORM=offscreen \
	  $(BIN)/python -m pytest -m "not proof" -n 2 --dist worksteal tests/ui || exit 1; done

# what is committed, on systems that have nothing but what the README names
bare-trial:
	@$(PYTHON) packaging/bare_trial.py $(ARGS) $(ONLY)

# Windows' own Python and wheels, and llama.cpp compiled there, on wine
windows-trial: setup
	@$(BIN)/python packaging/windows_trial.py $(ARGS) $(ONLY)

lint: setup
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python packaging/pins.py
	@$(BIN)/python packaging/audit.py

format: setup
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

bench: setup
	@$(BIN)/python -m tests.benchmarks build/bench $(ONLY)

faults: setup
	@mkdir -p build/bench
	@$(BIN)/python -m tests.faults --json build/bench/faults.json $(KINDS)

install: setup
	@$(BIN)/python packaging/install.py

uninstall:
	@$(PYTHON) packaging/install.py uninstall

package: export UPDATES := $(UPDATES)
package:
	@$(PYTHON) packaging/package.py

peers: setup
	@$(BIN)/python -m tests.benchmarks.peers

# without a network: a namespace has no other way out
peers-clients: setup
	@$(BIN)/python -m tests.clients.install
	@unshare --map-root-user --net sh -c 'ip link set lo up && $(BIN)/python -m tests.clients --sentence $(ONLY)'

papers: setup
	@$(BIN)/python packaging/papers.py
