# The commands people and CI use. Needs only Python 3.11 and make; everything else goes into .venv.
PYTHON ?= python3.11
VENV ?= .venv
PIP_FLAGS ?=
PYTEST_FLAGS ?= -n 2 --dist worksteal --durations=30
BENCHMARK_FLAGS ?=
FUZZ_FLAGS ?=
NIGHTLY ?= tests

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check $(PIP_FLAGS) -c constraints.txt
# What pip does on one core; some packages have files that are for other Pythons.
COMPILE := $(BIN)/python -m compileall -q -j 0 $(VENV)/lib > /dev/null 2>&1 || true
PINS := pyproject.toml constraints.txt
ORACLE := tests/requirements-oracle.txt
CODE := src tests examples benchmarks scripts

.PHONY: venv demo test lint format typecheck pytest nightly nightly-tests nightly-order nightly-threads fuzz coverage opdb benchmark clean
.DELETE_ON_ERROR:

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	@touch $@

# Stamps: a second `make demo` or `make test` installs nothing unless a pin moved.
$(VENV)/.installed: $(VENV)/.created $(PINS)
	@echo "installing torch2mlir with its engines into $(VENV) (a few minutes the first time)"
	$(PIP) -e ".[xla,iree,examples]"
	@$(COMPILE)
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed $(ORACLE)
	@echo "installing what the tests need into $(VENV)"
	$(PIP) -e ".[test]"
	$(PIP) --no-deps -r $(ORACLE)
	@$(COMPILE)
	@touch $@

venv: $(VENV)/.installed

demo: $(VENV)/.installed
	$(BIN)/python examples/demo.py

test: lint typecheck pytest

lint: $(VENV)/.installed-test
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)

format: $(VENV)/.installed-test
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

typecheck: $(VENV)/.installed-test
	$(BIN)/mypy

# One thread per worker: two workers on two cores, and no library fights another for them.
# Tests start some hundred processes: where Python is told to keep no bytecode, each of them compiles the package anew.
pytest: $(VENV)/.installed-test
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false HF_HUB_OFFLINE=1 \
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

# Everything: all cases in all modes on all engines, all entries of the operator database, long runs. Four hours on two cores; what
# has no four hours runs it in parts: make nightly-tests NIGHTLY="tests/e2e/test_cases.py tests/models".
# Then what shares a process most, in one worker and the other way round: tests do not depend on their order.
# Then the cases, and what engines were caught at, with two threads: users have several, and tests one. Then random programs.
# What fails stands in nightly-failures.txt as soon as it has failed.
nightly: nightly-tests nightly-order nightly-threads fuzz

nightly-tests: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false HF_HUB_OFFLINE=1 \
	$(BIN)/python -m pytest $(PYTEST_FLAGS) --full --failures nightly-failures.txt $(NIGHTLY)

nightly-order: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false HF_HUB_OFFLINE=1 \
	$(BIN)/python -m pytest --order reversed tests/unit tests/filecheck tests/tools tests/errors

nightly-threads: $(VENV)/.installed-test
	TOKENIZERS_PARALLELISM=false HF_HUB_OFFLINE=1 \
	$(BIN)/python -m pytest --threads 2 tests/e2e/test_cases.py tests/unit/runtime

# Random programs, other ones every day: an hour on every dialect and engine against eager PyTorch, half an hour between
# the dialects, and a quarter each through every entrance, of programs that compute with sizes, and of models that
# keep state in every place Python has; five minutes of tensors made of numbers; half an hour on IREE with two threads;
# a quarter of an hour of gradients.
# make fuzz FUZZ_FLAGS="--seed 100000".
fuzz: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --minutes 60 --processes $$(nproc) \
	--seed $$(($$(date +%s) / 86400 * 100000)) $(FUZZ_FLAGS)
	$(BIN)/python -m tests.fuzz --minutes 30 --threads 2 --dialects iree \
	--seed $$(($$(date +%s) / 86400 * 100000 + 50000)) $(FUZZ_FLAGS)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --minutes 15 --alone --dialects onnx,xla \
	--seed $$(($$(date +%s) / 86400 * 100000 + 60000)) $(FUZZ_FLAGS)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --minutes 15 --alone --families blocks --blocks \
	--seed $$(($$(date +%s) / 86400 * 100000 + 70000)) $(FUZZ_FLAGS)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz.between --minutes 30 --processes $$(nproc) \
	--seed $$(($$(date +%s) / 86400 * 100000)) $(FUZZ_FLAGS)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz.entrances --minutes 15 --count 100000 \
	--seed $$(($$(date +%s) / 86400 * 100000)) $(FUZZ_FLAGS)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz.entrances --minutes 5 --count 100000 --families constants \
	--seed $$(($$(date +%s) / 86400 * 100000)) --through compile,optimize --on linalg-reference $(FUZZ_FLAGS)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz.sizes --minutes 15 --count 100000 \
	--seed $$(($$(date +%s) / 86400 * 100000)) $(FUZZ_FLAGS)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz.models --minutes 15 --count 100000 \
	--seed $$(($$(date +%s) / 86400 * 100000)) $(FUZZ_FLAGS)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz.gradients --minutes 15 --count 100000 \
	--seed $$(($$(date +%s) / 86400 * 100000)) $(FUZZ_FLAGS)

# The two tables that are checked in: which op reaches which dialect, and PyTorch's operator database.
coverage: $(VENV)/.installed-test
	$(BIN)/python scripts/update_coverage.py

opdb: $(VENV)/.installed-test
	$(BIN)/python -m tests.opdb --write --failures

benchmark: $(VENV)/.installed-test
	$(BIN)/python benchmarks/import_time.py $(BENCHMARK_FLAGS)
	$(BIN)/python benchmarks/code_quality.py

clean:
	rm -rf $(VENV) build demo-output .pytest_cache .mypy_cache .ruff_cache src/*.egg-info
