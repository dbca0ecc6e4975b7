#!/usr/bin/env bash
# `make test`: everything, from a clean clone. Prints each step with the minutes gone by.
set -euo pipefail
cd "$(dirname "$0")/../.."

step() { printf '\n== %s (%d:%02d)\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)); }

# First, as a newcomer's `make run` does: on a fresh machine it has to find by itself what it installs.
step 'server and site';    make build
step 'what tests need';    end2end/setup/need.sh test
step 'format and lints';   end2end/setup/lint.sh
step 'Rust tests';         end2end/with-postgres.sh cargo test --release -p app -p server -p suite --tests
step 'quick start';        end2end/setup/quick-start.sh
step 'browser tests';      (cd end2end && npx playwright test)
step 'all passed'
