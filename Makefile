# The one list of commands. Everything lives in .venv in this checkout; your own
# Python is never touched. Only Python 3.11+, a C++20 compiler and make are assumed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
BUILD_INPUTS := pyproject.toml CMakeLists.txt README.md LICENSE \
	$(shell find core bindings src -type f -not -name '*.pyc')
PART_INPUTS := CMakeLists.txt $(shell find core bindings tests/core -name '*.hpp' -o -name '*.cpp')
CPP_FILES := $(shell find core bindings browser tests/core -name '*.hpp' -o -name '*.cpp')
PARTS := $(BIN)/cmake -S . -G Ninja -DCMAKE_BUILD_TYPE=Release -DRAMIFY_TEST_PARTS=ON \
	-DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" -DCMAKE_MAKE_PROGRAM="$(CURDIR)/$(BIN)/ninja"

.PHONY: demo demo-serve test check check-python check-core format stub bench bench-full history asan tsan chaos simulate fuzz engines docs map wheel portable windows browser release-check clean

demo: $(VENV)/.installed ## stream the world's cities through OHAC and OTD, and draw them
	$(PIP) install "ramify[cli]" # what the command needs; ramify itself is there
	$(BIN)/python -m ramify.demo

demo-serve: $(VENV)/.installed ## a server with a tree that grows, and a page to watch it
	$(PIP) install "ramify[serve]"
	$(BIN)/python -m ramify.serve.demo

test: $(VENV)/.installed $(VENV)/.test build/test-extension/.built ## build and run the whole test suite
	$(BIN)/python -m pytest -n 2

check: check-python check-core ## linters, clang's too; formatting, types, layers

check-python: $(VENV)/.installed $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --no-warn-unreachable src/ramify # names that Windows has not
	$(BIN)/lint-imports

check-core: $(VENV)/.installed $(VENV)/.check
	$(BIN)/clang-format --dry-run -Werror $(CPP_FILES)
	@mkdir -p build
	$(BIN)/cmake -S . -B build/tidy -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
		-DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python \
		> build/tidy.log
	@echo "clang-tidy, about three minutes; the largest files first"
	@ls -S $(filter core/%.cpp bindings/%.cpp, $(CPP_FILES)) \
		| xargs -P 2 -n 1 $(BIN)/clang-tidy -p build/tidy --quiet 2> build/tidy.log || { cat build/tidy.log; false; }

format: $(VENV)/.check ## let the tools settle the layout
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)

stub: $(VENV)/.installed ## write src/ramify/_core.pyi anew from the built extension
	$(BIN)/python -m nanobind.stubgen -m ramify._core -o src/ramify/_core.pyi

bench: $(VENV)/.installed $(VENV)/.bench ## speed, memory and quality beside peers, as ratios
	$(BIN)/python -m benchmarks

bench-full: $(VENV)/.installed $(VENV)/.bench ## the same with the large cases, about an hour
	$(BIN)/python -m benchmarks --full

OLD ?= HEAD~1
NEW ?= HEAD
history: $(VENV)/.history ## the speed of the commits OLD and NEW side by side, each built for itself
	$(BIN)/asv continuous --interleave-rounds --factor 1.05 --split $(OLD) $(NEW)

asan: $(VENV)/.installed $(VENV)/.test ## the core suite under AddressSanitizer and UBSan
	rm -rf build/asan
	$(PIP) install --no-build-isolation --no-deps --target build/asan . \
		-C build-dir=build/asan-objects -C cmake.define.RAMIFY_SANITIZE=address \
		-C cmake.build-type=RelWithDebInfo
	$(PARTS) -B build/asan-part-objects -DCMAKE_BUILD_TYPE=RelWithDebInfo -DRAMIFY_SANITIZE=address \
		-DRAMIFY_TEST_PARTS_DIR="$(CURDIR)/build/asan"
	$(BIN)/cmake --build build/asan-part-objects --target ramify_core_parts
	PYTHONPATH=build/asan RAMIFY_TEST_SCALE=small \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
		LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) $$($${CXX:-g++} -print-file-name=libubsan.so)" \
		$(BIN)/python -m pytest -n 2 -m "not no_asan" -o pythonpath=". build/asan"

# Reports go to files: pytest would show those of failed tests only, and forget a worker's.
# Only the files with such tests: polars, which others import, crashes under this tool.
tsan: $(VENV)/.installed $(VENV)/.test ## whatever runs in threads under ThreadSanitizer
	rm -rf build/tsan build/tsan-reports
	mkdir -p build/tsan-reports
	$(PIP) install --no-build-isolation --no-deps --target build/tsan . \
		-C build-dir=build/tsan-objects -C cmake.define.RAMIFY_SANITIZE=thread \
		-C cmake.build-type=RelWithDebInfo
	PYTHONPATH=build/tsan RAMIFY_TEST_SCALE=small OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
		TSAN_OPTIONS="die_after_fork=0 log_path=$(CURDIR)/build/tsan-reports/found" \
		LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libtsan.so)" \
		$(BIN)/python -m pytest -n 2 -m threads $$(grep -l pytest.mark.threads tests/test_*.py)
	@! cat build/tsan-reports/* 2> /dev/null

KILLS ?= 1000
ACTOR_KILLS ?= 100
chaos: $(VENV)/.installed $(VENV)/.test ## kill -9, full disks and failing syncs, some ten minutes
	$(BIN)/python -m tests.chaos --kills $(KILLS) --trees 40 --large 50
	CHAOS=long $(BIN)/python -m pytest tests/test_journal_crash.py
	$(BIN)/python -m tests.chaos.cluster $(ACTOR_KILLS)
	$(BIN)/python -m tests.chaos.drill --rows 20000
	$(BIN)/python -m tests.chaos.soak --rows 25000

SEEDS ?= 10000
simulate: $(VENV)/.installed $(VENV)/.test ## histories over a simulated disk, clock and network, one a seed
	$(BIN)/python -m tests.simulation --seeds $(SEEDS) --jobs 2

FUZZ_SECONDS ?= 300
fuzz: $(VENV)/.installed $(VENV)/.test ## new examples, damaged files and live graphs, for FUZZ_SECONDS
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS)

map: $(VENV)/bin/python ## docs/map.md, out of the first words of every file
	$(BIN)/python tools/map.py

engines: $(VENV)/.bench ## which engine merges the forests of each benchmark stream
	$(PIP) install --no-build-isolation --no-deps --target build/tally --upgrade . \
		-C build-dir=build/tally-objects -C cmake.define.RAMIFY_TALLY=ON
	PYTHONPATH=build/tally $(BIN)/python -m benchmarks.engines

docs: $(VENV)/.installed $(VENV)/.docs ## build the site into build/docs
	$(BIN)/python -m sphinx -W --keep-going -q docs build/docs
	@echo "open build/docs/index.html"

wheel: $(VENV)/.build ## a wheel in dist/, installed and tested in a fresh environment
	rm -rf dist build/wheel-venv
	$(PIP) wheel --no-build-isolation --no-deps --wheel-dir dist .
	$(PYTHON) -m venv build/wheel-venv
	build/wheel-venv/bin/python -m pip --disable-pip-version-check --quiet install --upgrade pip
	build/wheel-venv/bin/python -m pip --disable-pip-version-check --quiet install dist/*.whl
	build/wheel-venv/bin/python -m pip --disable-pip-version-check --quiet install --group test
	build/wheel-venv/bin/python -m pytest -n 2

# Trees are the same on every architecture: a program without Python, under an emulator. The cross
# compiler and qemu are Debian's g++-aarch64-linux-gnu and qemu-user-static.
PORTABLE := $(BIN)/cmake -S . -G Ninja -DCMAKE_BUILD_TYPE=Release -DRAMIFY_PORTABLE_ONLY=ON \
	-DCMAKE_MAKE_PROGRAM="$(CURDIR)/$(BIN)/ninja"
WINE ?= $(firstword $(wildcard /usr/lib/wine/wine64) $(shell command -v wine))
comma := ,
NEEDS = @for tool in $(1); do command -v $$tool > /dev/null \
	|| { echo "make $@ needs $$tool, of $(2)" >&2; exit 1; }; done
portable: $(VENV)/.build ## trees of the core on ARM, under an emulator, beside those written down
	$(call NEEDS,aarch64-linux-gnu-g++ qemu-aarch64-static,Debian's g++-aarch64-linux-gnu and qemu-user-static)
	$(PORTABLE) -B build/portable-arm64 -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
		-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_EXE_LINKER_FLAGS=-static
	$(BIN)/cmake --build build/portable-arm64
	for set in neon-dot neon baseline; do \
		qemu-aarch64-static -cpu max build/portable-arm64/portable_trees $$set \
			| diff tests/golden/portable.txt - || exit 1; done
	qemu-aarch64-static -cpu cortex-a53 build/portable-arm64/portable_trees neon \
		| diff tests/golden/portable.txt -

# Of the core alone: Python's own headers for Windows are not to be had beside this compiler.
windows: $(VENV)/.build ## the core compiled for Windows, and its trees where wine is there
	$(call NEEDS,x86_64-w64-mingw32-g++-posix,Debian's g++-mingw-w64-x86-64-posix)
	$(PORTABLE) -B build/portable-windows -DCMAKE_SYSTEM_NAME=Windows \
		-DCMAKE_CXX_COMPILER=x86_64-w64-mingw32-g++-posix -DCMAKE_EXE_LINKER_FLAGS=-static
	$(BIN)/cmake --build build/portable-windows
	[ -z "$(WINE)" ] || for set in avx2 baseline; do \
		WINEDEBUG=-all $(WINE) build/portable-windows/portable_trees.exe $$set \
			| tr -d '\r' | diff tests/golden/portable.txt - || exit 1; done

# The compiler is Debian's `emscripten` (6.0 or later) or emsdk; node runs what it makes.
browser: $(VENV)/.build ## a tree in a page, compiled to WebAssembly, and its trees beside those written down
	$(call NEEDS,emcmake node,Debian's emscripten (6.0 or later) and nodejs$(comma) or of emsdk)
	emcmake $(PORTABLE) -B build/browser-objects
	$(BIN)/cmake --build build/browser-objects
	node build/browser-objects/portable_trees.js | diff tests/golden/portable.txt -
	mkdir -p build/browser/live
	cp build/browser-objects/tree.js browser/index.html build/browser/live/

release-check: $(VENV)/.build $(VENV)/.release ## all that a release needs, up to the upload itself
	$(BIN)/python tools/release_check.py $(RELEASE)

$(VENV)/.release: $(VENV)/bin/python pyproject.toml
	$(PIP) install --group release
	touch $@

clean:
	rm -rf build dist $(VENV) demo-output

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade "pip>=25.1"

$(VENV)/.build: $(VENV)/bin/python pyproject.toml
	$(PIP) install --group build
	touch $@

$(VENV)/.installed: $(VENV)/.build $(BUILD_INPUTS)
	$(PIP) install --no-build-isolation .
	touch $@

# The core's own classes, for tests of each alone (tests/core). Pytest looks for it there.
build/test-extension/.built: $(VENV)/.build $(PART_INPUTS)
	$(PARTS) -B build/test-objects -DRAMIFY_TEST_PARTS_DIR="$(CURDIR)/build/test-extension"
	$(BIN)/cmake --build build/test-objects --target ramify_core_parts
	touch $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml
	$(PIP) install --group test
	touch $@

# A peer that cannot be had here is a row that is left out.
$(VENV)/.bench: $(VENV)/.installed
	-$(PIP) install "ramify[bench]"
	touch $@

$(VENV)/.history: $(VENV)/bin/python pyproject.toml
	$(PIP) install --group history
	touch $@

$(VENV)/.check: $(VENV)/bin/python pyproject.toml
	$(PIP) install --group check
	touch $@

$(VENV)/.docs: $(VENV)/bin/python pyproject.toml
	$(PIP) install --group docs
	touch $@
