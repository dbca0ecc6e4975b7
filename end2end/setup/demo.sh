#!/usr/bin/env bash
# `make demo`: the demo through the `toll serve` that runs, else through one that is started for it and ends with it.
set -euo pipefail
cd "$(dirname "$0")/../.."
toll=target/release/toll listen=${TOLL_LISTEN:-127.0.0.1:8080}

if ! (exec 3<>"/dev/tcp/${listen%:*}/${listen##*:}") 2>/dev/null; then
  said=$(mktemp)
  # A session of its own: Ctrl-C is for the demo, which still wants to print its funnel.
  setsid "$toll" serve >"$said" 2>target/demo-serve.log &
  serve=$!
  finish() {
    kill "$serve" 2>/dev/null && echo "toll: ending toll serve; \`make run\` serves what the demo has left"
    wait "$serve" || true
    rm -f "$said"
  }
  trap finish EXIT
  trap : INT
  trap 'exit 143' TERM HUP
  until grep -q '^Toll serves' "$said"; do
    kill -0 "$serve" 2>/dev/null || { tail -n 3 target/demo-serve.log >&2; exit 1; }
    sleep 0.2
  done
  cat "$said"
  echo "toll: its log is target/demo-serve.log"
fi
"$toll" demo --backfill 24h "$@"
