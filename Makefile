# Commands for development. Anything longer than three lines is Rust in `xtask` or a step of `tools/setup`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

# One target directory and two jobs: builds share their output and fit a small machine.
export CARGO_TARGET_DIR ?= $(CURDIR)/target
export CARGO_BUILD_JOBS ?= 2
export PATH := $(CURDIR)/.tools/bin:$(PATH):$(HOME)/.cargo/bin

debug := $(CARGO_TARGET_DIR)/debug
# Target of a release: this machine, and on Linux every system with this glibc or a newer one, for which zig links it.
TARGET = $(shell PATH='$(PATH)' rustc -vV | sed -n 's/^host: //p')
GLIBC := $(if $(filter Linux,$(shell uname -s)),.2.17)
say = @printf '\n==> %s\n' '$(1)'

.PHONY: help setup setup-clis setup-release build fmt-check clippy tidy generated deny check tests e2e pictures test test-clis fix generate bench demo walk release drill

help: ## List the commands
	@sed -nE 's/^([a-z-]+):.* ## (.*)/  make \1\t\2/p' Makefile | expand -t 22

setup: ## Install what the tests need and the machine lacks, into .tools/
	$(call say,setup: installing what is missing into .tools/)
	@tools/setup

setup-clis: setup ## Install the real command lines for test-clis (over 1 GB), into .tools/
	@tools/setup-clis

setup-release: ## Install what builds a release for older systems (450 MB), into .tools/
	@tools/setup-release

test: setup check tests e2e ## Everything that continuous integration runs
	$(call say,all checks passed)

check: fmt-check clippy tidy generated deny ## Formatting, lints, tidiness, and that generated files are current

fmt-check:
	$(call say,formatting)
	@cargo fmt --all --check

clippy:
	$(call say,lints: cargo clippy on everything)
	@cargo clippy --workspace --all-targets --locked -- -D warnings
	@cargo clippy --package adjutant --test clis --locked -- -D warnings

# With the tests: without them the crates that they share get other features, and everything is built twice.
build:
	$(call say,build: the whole workspace)
	@cargo build --workspace --all-targets --locked

tidy: build
	$(call say,tidiness: cargo xtask tidy)
	@$(debug)/xtask tidy

generated: build
	$(call say,generated files: cargo xtask generate --check)
	@$(debug)/xtask generate --check

# Advisories change without the code, so the workflow checks them: cargo deny check advisories.
deny:
	$(call say,licences and sources: cargo deny)
	@cargo deny --version >/dev/null 2>&1 || { echo 'cargo-deny is missing: run make setup'; exit 1; }
	@cargo deny --locked check bans licenses sources

# Doctests run only if there are some: searching in vain takes a minute.
tests: build
	$(call say,tests)
	@if cargo nextest --version >/dev/null 2>&1; then \
	  cargo nextest run --workspace --locked; \
	else \
	  cargo test --workspace --locked --lib --bins --tests; \
	fi
	@if grep -rqE '^ *//[/!] ```($$|rust)' crates/*/src; then cargo test --workspace --locked --doc; fi

# The binary contains the page, so it must be built first; that installs what the page's tests need.
e2e: build ## Test the page: its logic, then all of it in Chromium over the real server
	$(call say,the page: types and logic; then all of it in Chromium)
	@npm --prefix web run --silent build
	@npm --prefix web run --silent test
	@ADJUTANT_BIN=$(debug)/adjutant npm --prefix web run --silent e2e

pictures: build ## Take the pictures of every page, light and dark, into docs/pictures
	$(call say,pictures of the page)
	@ADJUTANT_BIN=$(debug)/adjutant npm --prefix web run --silent pictures

# Serial: each test runs several large programs.
test-clis: setup-clis build ## Run agents with real Claude Code, Codex and ACP, against a scripted model
	$(call say,tests with real command lines)
	@cargo test --locked --package adjutant --test clis -- --test-threads 1

fix: ## Format, and apply the fixes of the lints
	@cargo clippy --workspace --all-targets --fix --allow-dirty --allow-staged
	@cargo fmt --all

generate: build ## Write the generated files in docs/reference
	$(call say,generated files: cargo xtask generate)
	@$(debug)/xtask generate

bench: ## Measure, beside a bare axum and a bare rmcp (ARGS=--quick for a smoke run)
	$(call say,bench: building with optimisation)
	@cargo build --profile dist --locked --package adjutant --package bench
	@$(CARGO_TARGET_DIR)/dist/bench $(ARGS)

walk: build ## Run the README's tour word for word (INSTALL=1: with the installed binary)
	$(call say,the newcomer's walk)
	@binary=$(debug)/adjutant; if [ -n "$(INSTALL)" ]; then binary=$(CARGO_TARGET_DIR)/installed/bin/adjutant; \
	  cargo install --quiet --locked --path crates/adjutant --root $(CARGO_TARGET_DIR)/installed; fi; tools/walk $$binary

# A release without a page is refused: at once if it is skipped, at the end if npm failed.
release: setup-release build ## Make the packages for others in dist/: tarball, wheel, npm, crates
	$(call say,release: building with every optimisation)
	@[ "$${ADJUTANT_PAGE:-}" != skip ] || { echo 'a release needs the page: unset ADJUTANT_PAGE'; exit 1; }
	@PATH="$(CURDIR)/.tools/release/bin:$$PATH" cargo $(if $(GLIBC),zigbuild,build) --profile dist --locked --package adjutant --target $(TARGET)$(GLIBC)
	@$(debug)/xtask release $(CARGO_TARGET_DIR)/$(TARGET)/dist/adjutant $(TARGET)$(GLIBC)

drill: setup release ## Full rounds of the drills of a shared home; a release installed in every form (over half an hour)
	$(call say,drill: a home in PostgreSQL whose servers and PostgreSQL are killed)
	@ADJUTANT_DRILL_ROUNDS=20 cargo nextest run --profile drill --workspace --locked --success-output final \
	  -E 'package(adjutant) & test(/cluster::(crash_points|drills|effects|failovers|network|hosts::drills|outages|upgrades)/)'
	$(call say,drill: installing the packages)
	@$(debug)/xtask try dist

demo: ## Play the demonstration
	@cargo run --quiet --release --locked --package adjutant -- demo
