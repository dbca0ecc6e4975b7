#!/usr/bin/env bash
# `make bench-screens`: how long the server takes for each screen, with 30 days of 1,000 keys in the books, and whether a
# million requests cost more than a thousand. The past is written by the ledger's own statement. Everything is on
# 127.0.0.1, and ends with the script.
set -euo pipefail
cd "$(dirname "$0")/../.."
toll=$PWD/target/release/toll past=$PWD/target/release/examples/past here=$PWD/end2end/bench

die() { echo "bench: $*" >&2; exit 1; }
psql=$(command -v psql || ls /usr/lib/postgresql/*/bin/psql 2>/dev/null | tail -n 1)
[ -n "$psql" ] || die "psql is missing; install it (Debian: apt-get install postgresql-client)"
[ -x "$toll" ] && [ -x "$past" ] || die "target/release is not built; run: make bench-screens"

# Open for the user that Toll's private PostgreSQL runs as.
work=$(mktemp -d /tmp/toll-screens-XXXXXX)
chmod 755 "$work"
serve=
finish() {
  [ -z "$serve" ] || { kill "$serve" 2>/dev/null && wait "$serve" || true; }
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

for requests in ${BENCH_REQUESTS:-1000 1000000}; do
  export TOLL_DATA_DIR=$work/data-$requests TOLL_LISTEN=127.0.0.1:$((20000 + RANDOM % 12000)) TOLL_ADMIN_LISTEN=none
  unset DATABASE_URL
  "$toll" serve >"$work/serve.out" 2>"$work/toll.log" &
  serve=$!
  for _ in $(seq 600); do
    grep -q '/invite/' "$work/serve.out" && break
    kill -0 $serve 2>/dev/null || { tail -n 5 "$work/toll.log" >&2; die "toll serve ended"; }
    sleep 0.1
  done
  base=$([ -f "$TOLL_DATA_DIR/postgres-is-at" ] && cat "$TOLL_DATA_DIR/postgres-is-at" || echo "$TOLL_DATA_DIR")
  socket=$(sed -n 5p "$base/postgres/postmaster.pid")
  database="postgres:///toll?host=$socket&user=postgres"
  echo "bench: writing $requests requests" >&2
  "$past" "$database" "$requests" >&2
  # What autovacuum does after a while.
  "$psql" -qX "$database" -c 'vacuum analyze'
  partner=$("$toll" users invite --email bob@partner.example --role partner --partner partner-7 2>/dev/null)
  node "$here/screens.mjs" "http://$TOLL_LISTEN" "$(grep -o '/invite/[0-9a-f]*' "$work/serve.out")" "/invite/${partner##*/}" \
    >"$work/$requests.tsv"
  kill $serve && wait $serve || true
  serve=
  rm -rf "$TOLL_DATA_DIR"
done
node "$here/screens-table.mjs" "$work"/*.tsv
