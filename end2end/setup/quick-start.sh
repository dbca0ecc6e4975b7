#!/usr/bin/env bash
# Serves from an empty data folder on free ports, and follows the README's quick start there, then its demo beside it.
set -euo pipefail
cd "$(dirname "$0")/../.."

SCRATCH=$(mktemp -d /tmp/toll-quick-start-XXXXXX)
chmod 755 "$SCRATCH"
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
TOLL_LISTEN=127.0.0.1:$(free_port)
ORIGIN_PORT=$(free_port)
TOLL_DATA_DIR=$SCRATCH/data
TOLL_ADMIN_LISTEN=none
export SCRATCH TOLL_LISTEN ORIGIN_PORT TOLL_DATA_DIR TOLL_ADMIN_LISTEN

target/release/toll serve >"$SCRATCH/serve.log" 2>&1 &
server=$!
finish() { kill "$server" 2>/dev/null && wait "$server" || true; rm -rf "$SCRATCH"; }
trap finish EXIT
until grep -q '^Toll serves' "$SCRATCH/serve.log" || ! kill -0 "$server" 2>/dev/null; do sleep 0.1; done
for line in 'Toll serves http://' 'Nobody has an account yet.' '/invite/'; do
  grep -q "$line" "$SCRATCH/serve.log" || { echo "quick start: toll serve did not print $line" >&2; cat "$SCRATCH/serve.log" >&2; exit 1; }
done
python3 end2end/setup/quick-start.py
target/release/toll demo --minutes 0.05 >"$SCRATCH/demo.log" 2>&1 || { echo "quick start: then toll demo fails" >&2; cat "$SCRATCH/demo.log" >&2; exit 1; }
