# Two commands do everything on a fresh Debian 12 machine, as root or with sudo:
#   make run     installs what is missing, builds, and starts `relay serve`
#   make test    installs what is missing, builds, and runs all tests
SHELL := /bin/bash
JOBS  ?= $(shell nproc)
RUN_FLAGS ?=
SOAK_FLAGS ?=
PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: help run test build install uninstall bench soak fuzz tidy format clean
help:
	@sed -n 's/^#:\([a-z]*\) /  make \1\t/p' Makefile | expand -t 16

#:run install what is missing, build, start `relay serve` (RUN_FLAGS="--port 7900 --no-open")
run: build
	@build/bin/relay serve $(RUN_FLAGS)

#:build the release programs, in build/bin (those of the tests and the benchmark come with `make test` and `make bench`)
build: setup-build build/release/build.ninja
	@scripts/compile release -j $(JOBS)
	@scripts/build-runtime

#:install copy the programs to PREFIX (default /usr/local), below DESTDIR if it is set: lib/relay, a link in bin, completions
install: build
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install

#:uninstall remove what `make install` copied, with the same PREFIX and DESTDIR
uninstall:
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install --remove

#:test build everything and run all tests: unit tests under sanitizers, then whole-program tests
test: setup-test build build/dev/build.ninja
	@scripts/compile release -j $(JOBS) --target test-programs
	@scripts/compile dev -j $(JOBS)
	@scripts/run-tests

#:bench measure against peers in one run; writes bench/RESULTS.md
bench: setup-bench build
	@scripts/compile release -j $(JOBS) --target bench-programs
	@bench/run

#:soak long runs that look for leaks and races; not part of the tests (SOAK_FLAGS="--minutes 1 --runs 500 --kills 20")
soak: setup-test build build/dev/build.ninja
	@scripts/compile dev -j $(JOBS) --target vfs_test
	@tests/soak/run $(SOAK_FLAGS)

#:fuzz every fuzz target for a minute (FUZZ_SECONDS=60)
fuzz: setup-build build/fuzz/build.ninja
	@scripts/compile fuzz -j $(JOBS)
	@scripts/run-fuzz

#:tidy clang-tidy-19 over the C++ sources, about an hour (FILES="src/io/*.cc" for a few, FILES=--changed for what changed)
tidy: setup-build
	@scripts/run-tidy $(FILES)

#:format clang-format-19 over the lines that you changed and did not commit yet (BASE=main: since that commit)
format: setup-build
	@git clang-format-19 --binary clang-format-19 --extensions cc,h $(or $(BASE),HEAD)

#:clean remove build outputs, keep downloads
clean:
	rm -rf build/dev build/release build/tidy build/tsan build/fuzz build/bin build/runtime

setup-%:
	@scripts/setup $*

build/%/build.ninja: CMakeLists.txt CMakePresets.json cmake/compiler.cmake cmake/folders.cmake cmake/packages.cmake | setup-build
	@echo "configure: $* preset"
	@cmake --preset $* > build/$*.configure.log 2>&1 || { cat build/$*.configure.log; exit 1; }
