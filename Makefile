# `make` lists the targets. Everything that is shipped or tested is built in release.
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory --no-builtin-rules

WASM := target/wasm32-unknown-unknown/wasm-release/frontend.wasm
SITE := target/site/assets.json
SITE_SOURCES := $(shell find style public end2end/setup -type f) end2end/package-lock.json
# Where need.sh puts what it installs. Looked up when it is run: on a fresh machine it is not there yet when this is read.
export PATH := $(CURDIR)/.tools/bin:$(PATH)

.PHONY: help run build test lint demo screenshots bench bench-screens clean need server browser always

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## Install what is missing, build, serve on http://127.0.0.1:8080
	@exec target/release/toll serve

build: need server $(SITE) ## Leave target/release/toll and target/site
	@:

test: ## Everything: format, lints, Rust tests, browser tests
	@end2end/setup/test.sh

lint: ## rustfmt and clippy, warnings are errors
	@end2end/setup/lint.sh

demo: build ## Real requests from a demo's partners through the gateway, for pages with life in them
	@exec end2end/setup/demo.sh

screenshots: build ## Take the README's pictures again, from a demo
	@end2end/setup/need.sh test
	@node end2end/screenshots/take.mjs

bench: build ## Requests a second, beside nginx
	@exec end2end/bench/run.sh

bench-screens: build ## Milliseconds of the server for each screen, 30 days of 1,000 keys
	@cargo build --release -p server --example past
	@exec end2end/bench/screens.sh

clean: ## Forget what was built (the installed tools stay)
	cargo clean
	rm -rf end2end/node_modules end2end/artefacts end2end/test-results

need:
	@end2end/setup/need.sh build

server:
	@cargo build --release -p server

# Cargo decides whether anything is to be done, and leaves the file's time alone if not. Its own make run, so that a
# tool which `need` has just installed is seen.
$(WASM): always | need
	@cargo build -p frontend --target wasm32-unknown-unknown --profile wasm-release

$(SITE): $(WASM) $(SITE_SOURCES) | need
	@node end2end/setup/site.mjs

always:
