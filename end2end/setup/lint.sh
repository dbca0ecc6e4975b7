#!/usr/bin/env bash
# rustfmt, and clippy over what the server is made of and over what the browser gets: the two halves never share features.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo fmt --all -- --check
cargo clippy --quiet --release -p app -p server -p suite --all-targets -- -D warnings
cargo clippy --quiet -p frontend -p app --features app/hydrate --target wasm32-unknown-unknown --profile wasm-release -- -D warnings
