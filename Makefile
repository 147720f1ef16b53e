# Two commands: `make report` and `make test`. Both set up .venv from the locks in envs/ first.
# With PyTorch too: make report FRAMEWORKS="tensorflow jax torch"
# On GPUs of NVIDIA, with the frameworks' CUDA builds: make report FRAMEWORKS="tensorflow-gpu jax-gpu"
FRAMEWORKS ?= tensorflow jax
PLUGIN := plugins/snakemake-executor-plugin-gcebatch
# The first Python for which every framework has a build: TensorFlow has none for 3.14 yet.
FITS := import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c '$(FITS)' 2>/dev/null && echo $$python && break; done)

BIN := .venv/bin
LOCKS := envs/workflow.lock $(foreach framework,$(FRAMEWORKS),envs/$(framework).lock)
PIP := $(BIN)/python -m pip install --quiet --no-cache-dir --disable-pip-version-check --require-hashes

# Where a system forbids to keep what Python compiles, each call would compile all files anew.
unexport PYTHONDONTWRITEBYTECODE
# What the tools would else keep in the home directory stays in the clone.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export XDG_CACHE_HOME := $(CURDIR)/.cache

empty :=
comma := ,
NAMES := $(subst $(empty) $(empty),-,$(sort $(FRAMEWORKS)))
list = [$(subst $(empty) $(empty),$(comma),$(strip $(FRAMEWORKS:%-gpu=%)))]

.PHONY: simulate faults guards gce slurm smoke-gce report kit test quick nightly lint bench docs lock clean

report: .venv/report-$(NAMES)
	./epd report --config 'frameworks=$(list)'

# Jobs on Google Batch bring their framework in an image, those on Slurm find it here.
gce: .venv/gce

slurm: .venv/slurm-$(NAMES)

# Prints what it may cost before it asks Google for anything; both together stay below a dollar, or nothing is asked for.
# Each call tries anew what an earlier one was refused.
smoke-gce: .venv/gce
	./epd report smoke --profile gce-cpu --config budget_usd=1 -- -R train
	./epd report smoke --profile gce-gpu --config budget_usd=1 -- -R train

# One archive for a machine without network: make kit STUDY=card KIT_PYTHON=3.12
STUDY ?= card
KIT_PYTHON ?= 3.12
kit: .venv/report-$(NAMES)
	./epd kit pack '$(STUDY)' --python '$(KIT_PYTHON)'

# docs/testing.md says what each of the three guards. Two processes a core where tests wait for what they start.
PYTEST := pytest --dist worksteal -n

test: .venv/test-$(NAMES) lint
	$(PYTEST) 4 -m "not nightly"

# Of one room alone: make quick ROOM=costs
ROOM ?=
quick: .venv/test-$(NAMES)
	$(PYTEST) 2 -m "not slow and not nightly" $(if $(ROOM),tests/$(ROOM) tests/test_rooms.py)

nightly: .venv/test-$(NAMES) lint
	$(PYTEST) 4 --hypothesis-profile nightly

lint: .venv/test-$(NAMES)
	ruff check
	ruff format --check
	snakefmt --check Snakefile rules
	snakemake --lint
	mypy

simulate: .venv/test-$(NAMES)
	python -m tests.simulation.verdicts
	python -m tests.simulation.trends
	python -m tests.simulation.states
	python -m tests.simulation.estimates
	./epd document

# Accidents of all kinds: up to so many minutes of each, make faults MINUTES=60
MINUTES ?= 10
faults: .venv/test-$(NAMES)
	python -m tests.faults --minutes $(MINUTES)
	./epd document

# Who notices when a guard is taken out, one after the other: an hour and more.
guards: .venv/test-$(NAMES)
	python -m tests.faults.guards --minutes $(MINUTES) --everything 5
	./epd document

bench: .venv/test-$(NAMES)
	python -m tests.bench.pricing
	python -m tests.bench.growth
	python -m tests.bench.page
	python -m tests.bench.training
	python -m tests.bench.watcher

docs: .venv/test-$(NAMES)
	./epd document

.venv/bin/python:
	@[ -n "$(PYTHON)" ] || { echo "error: no Python 3.11, 3.12 or 3.13 on the PATH; if there is one: make PYTHON=/path/to/it" >&2; exit 1; }
	$(PYTHON) -m venv .venv

.venv/report-$(NAMES): $(LOCKS) | .venv/bin/python
	@echo "installing $(LOCKS) into .venv: some minutes the first time"
	$(PIP) $(addprefix -r ,$(LOCKS))
	@touch $@

.venv/gce: envs/workflow.lock envs/gce.lock | .venv/bin/python
	@echo "installing envs/workflow.lock envs/gce.lock into .venv"
	$(PIP) -r envs/workflow.lock -r envs/gce.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps ./$(PLUGIN)
	@touch $@

.venv/slurm-$(NAMES): $(LOCKS) envs/slurm.lock | .venv/bin/python
	@echo "installing $(LOCKS) envs/slurm.lock into .venv: some minutes the first time"
	$(PIP) $(addprefix -r ,$(LOCKS)) -r envs/slurm.lock
	@touch $@

.venv/test-$(NAMES): $(LOCKS) envs/test.lock | .venv/bin/python
	@echo "installing $(LOCKS) envs/test.lock into .venv: some minutes the first time"
	$(PIP) $(addprefix -r ,$(LOCKS)) -r envs/test.lock
	@touch $@

# Makes the locks anew from envs/*.in; all of them agree on the versions that they share.
UV := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	--no-emit-index-url --no-emit-find-links
lock:
	mkdir -p .cache
	$(UV) $(addprefix envs/,$(addsuffix .in,workflow tensorflow-gpu jax-gpu gce slurm test)) -o .cache/all.lock
	for name in workflow train tensorflow jax gce slurm test torch tensorflow-gpu jax-gpu torch-gpu; do \
	  $(UV) -c .cache/all.lock envs/$$name.in -o envs/$$name.lock || exit 1; done
	cat envs/torch-cpu.lock >> envs/torch.lock

clean:
	@for lock in .cache/trainings/*.lock; do \
		[ ! -e "$$lock" ] || flock -n "$$lock" true || { echo "error: a training is at work here: stop it first" >&2; exit 1; }; \
	done
	rm -rf .venv .snakemake .cache results
