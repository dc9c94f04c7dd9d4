# One target per habit. All of them work in a bare clone; each sets up .venv first if it must.
PYTHON ?= python3
BIN = .venv/bin

.PHONY: setup demo test lint type bench sanitize fuzz stub clean

setup: .venv/ready

# Build tools first, so that the package is built with them: an editable install, whose Python code
# is live and whose native core is rebuilt by `make setup` when its sources change.
.venv/ready: pyproject.toml $(shell find native -type f)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check "scikit-build-core>=0.11" "nanobind>=2.7" cmake ninja
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --editable ".[dev]"
	touch $@

demo: setup
	$(BIN)/python scripts/demo.py $(DEMO)

test: setup
	$(BIN)/python -m pytest -n auto --dist worksteal $(TEST)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type: setup
	$(BIN)/mypy

bench: setup
	$(BIN)/python scripts/bench.py $(BENCH)

sanitize: setup
	$(BIN)/cmake -S native -B build/sanitize -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
		-DBPE_COMPAT_SANITIZE=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo
	$(BIN)/cmake --build build/sanitize
	build/sanitize/native_tests

# Each target for so many seconds: `make fuzz SECONDS=900 TARGETS=encode`. Needs clang, as CLANG says.
# What it finds lies in build/fuzz; `build/fuzz/fuzz_encode FILE` runs it again.
SECONDS ?= 60
TARGETS ?= scan normalize encode train
CLANG ?= clang++
fuzz: setup
	$(BIN)/cmake -S native -B build/fuzz -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
		-DCMAKE_CXX_COMPILER=$(CLANG) -DBPE_COMPAT_FUZZ=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo
	$(BIN)/cmake --build build/fuzz
	$(BIN)/python scripts/make_fuzz_patterns.py build/fuzz/patterns
	set -e; for target in $(TARGETS); do \
		mkdir -p build/fuzz/$$target.corpus; \
		build/fuzz/fuzz_$$target -max_total_time=$(SECONDS) -timeout=60 -len_control=0 -max_len=3000 \
			-artifact_prefix=build/fuzz/$$target. build/fuzz/$$target.corpus; \
	done

# The types of the compiled module, generated; a test compares them.
stub: setup
	$(BIN)/python -m nanobind.stubgen -q -m bpe_compat._core -o bpe_compat/_core.pyi

clean:
	rm -rf .venv build demo-output
