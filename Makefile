# One target per habit. All of them work in a bare clone; each sets up .venv first if it must.
PYTHON ?= python3
BIN = .venv/bin

.PHONY: setup demo test lint type bench sanitize stub clean

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

# The types of the compiled module, generated; a test compares them.
stub: setup
	$(BIN)/python -m nanobind.stubgen -q -m bpe_compat._core -o bpe_compat/_core.pyi

clean:
	rm -rf .venv build demo-output
