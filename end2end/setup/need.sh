#!/usr/bin/env bash
# Checks what a build (`need.sh build`) or the tests (`need.sh test`) need, and installs what is missing where it can.
# What it cannot install is one line on stderr with the mend.
set -euo pipefail
cd "$(dirname "$0")/../.."
what=${1:?need.sh build|test}
bindgen_version=0.2.130

die() { echo "toll: $*" >&2; exit 1; }
say() { echo "toll: $*"; }
has() { command -v "$1" >/dev/null 2>&1; }

# Debian packages, if this is Debian and we may.
apt() {
  has apt-get && [ "$(id -u)" = 0 ] || return 1
  say "installing $* (apt-get)"
  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@"; } >"$log" 2>&1 \
    || { tail -n 5 "$log" >&2; return 1; }
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

has cargo || die "cargo is missing; install Rust 1.90 or newer: https://rustup.rs"
[ -d "$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown/lib" ] || {
  has rustup || die "the Rust target wasm32-unknown-unknown is missing, and so is rustup; install rustup, or your distribution's std for that target"
  say "adding the Rust target wasm32-unknown-unknown"
  rustup -q target add wasm32-unknown-unknown || die "could not add it; run: rustup target add wasm32-unknown-unknown"
}
has cc || apt gcc libc6-dev || die "a C compiler is missing; install gcc or clang"

# Must be exactly the version of the crate, so one of our own is kept apart from what else is installed.
PATH="$PWD/.tools/bin:$PATH"
wasm-bindgen --version 2>/dev/null | grep -qx "wasm-bindgen $bindgen_version" || {
  say "installing wasm-bindgen-cli $bindgen_version into .tools (2 to 3 minutes, once)"
  cargo install -q wasm-bindgen-cli --version "$bindgen_version" --root .tools --target-dir target/tools \
    || die "could not install it; run: cargo install wasm-bindgen-cli --version $bindgen_version"
}

has node && has npm || apt nodejs npm || die "node and npm are missing; install Node.js 20 or newer"
[ "$(node -p 'parseInt(process.versions.node)')" -ge 18 ] || die "node is $(node --version); install Node.js 20 or newer"
[ end2end/node_modules/.package-lock.json -nt end2end/package-lock.json ] || {
  say "installing npm packages into end2end/node_modules"
  (cd end2end && npm ci --ignore-scripts --silent) || die "npm ci failed in end2end/; is the npm registry reachable?"
  touch end2end/node_modules/.package-lock.json
}

postgres() { has initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }
[ -n "${DATABASE_URL:-}" ] || postgres || apt postgresql || die "PostgreSQL is missing; install it (Debian: apt-get install postgresql) or set DATABASE_URL"

if [ "$what" = test ]; then
  postgres || apt postgresql || die "the tests need PostgreSQL's binaries; Debian: apt-get install postgresql"
  has chromium || has chromium-browser || has google-chrome || apt chromium fonts-dejavu-core \
    || die "a Chromium is missing; install one (Debian: apt-get install chromium)"
  has faketime || apt faketime || die "faketime is missing; Debian: apt-get install faketime"
  rustup component list --installed 2>/dev/null | grep -q clippy || cargo clippy --version >/dev/null 2>&1 || rustup -q component add clippy rustfmt \
    || die "clippy is missing; run: rustup component add clippy rustfmt"
fi
