#!/usr/bin/env bash
# Runs a command with a throw-away PostgreSQL: `with-postgres.sh COMMAND [ARG …]`.
# The server is the command's own, on a Unix socket; TOLL_TEST_DATABASE_URL names it. Both end together.
set -euo pipefail

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
bin=${bin:-$(dirname "$(command -v initdb || echo /missing/initdb)")}
[ -x "$bin/initdb" ] || { echo "with-postgres: no PostgreSQL binaries found; install them: apt-get install postgresql" >&2; exit 1; }

home=$(mktemp -d /tmp/toll-pg-XXXXXX)
as=()
if [ "$(id -u)" = 0 ]; then
  chown postgres "$home"
  as=(setpriv --reuid=postgres --regid="$(id -g postgres)" --clear-groups)
fi
cd "$home"
"${as[@]}" "$bin/initdb" --pgdata="$home/data" --username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync >"$home/initdb.log" 2>&1 \
  || { cat "$home/initdb.log" >&2; exit 1; }
# Durability is of no use to a database that is thrown away; everything else is as in production.
"${as[@]}" "$bin/pg_ctl" --pgdata="$home/data" --log="$home/postgres.log" --wait --silent \
  -o "-k $home -c listen_addresses='' -c fsync=off -c max_connections=400 -c log_min_messages=warning" start
cd "$OLDPWD"
finish() {
  cd / && "${as[@]}" "$bin/pg_ctl" --pgdata="$home/data" --mode=immediate --silent stop || true
  rm -rf "$home"
}
trap finish EXIT
export TOLL_TEST_DATABASE_URL="postgres:///postgres?host=$home&user=postgres"
"$@"
