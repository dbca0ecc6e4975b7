#!/usr/bin/env bash
# `make bench`: Toll with key, quota and full books beside nginx with proxy_pass, proxy_cache and access log, on this
# machine, with one tiny origin behind both. Closed-loop (wrk), so it tells throughput and what the queue costs, not
# latency at a given rate. Everything is on 127.0.0.1, and ends with the script.
set -euo pipefail
cd "$(dirname "$0")/../.."
toll=$PWD/target/release/toll here=$PWD/end2end/bench
seconds=${BENCH_SECONDS:-8} rounds=${BENCH_ROUNDS:-3} keys=10000

die() { echo "bench: $*" >&2; exit 1; }
for tool in wrk nginx curl node; do
  PATH=$PATH:/usr/sbin command -v $tool >/dev/null || die "$tool is missing; install it (Debian: apt-get install $tool)"
done
PATH=$PATH:/usr/sbin
psql=$(command -v psql || ls /usr/lib/postgresql/*/bin/psql 2>/dev/null | tail -n 1)
[ -n "$psql" ] || die "psql is missing; install it (Debian: apt-get install postgresql-client)"
[ -x "$toll" ] || die "target/release/toll is missing; run: make bench"

# Open for the user that Toll's private PostgreSQL runs as.
work=$(mktemp -d /tmp/toll-bench-XXXXXX)
chmod 755 "$work"
pids=()
finish() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

port() {
  while :; do
    local port=$((20000 + RANDOM % 12000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo $port; return; }
  done
}
until_up() {
  for _ in $(seq 300); do
    curl -fso /dev/null "$1" && return
    kill -0 "$2" 2>/dev/null || break
    sleep 0.1
  done
  tail -n 5 "$work"/*.log >&2
  die "$1 does not answer"
}

# --- the origin, and nginx in front of it ---------------------------------------------------------------------------
origin=$(port) front=$(port) gate=$(port)
mkdir -p "$work/www" "$work/cache"
head -c 1024 /dev/zero | tr '\0' x >"$work/www/1k"
as=$([ "$(id -u)" = 0 ] && echo 'user root;' || true)
for conf in origin front; do
  sed -e "s|@WORK@|$work|g; s|@ORIGIN@|$origin|g; s|@FRONT@|$front|g; s|@USER@|$as|" "$here/$conf.conf" >"$work/$conf.conf"
  nginx -p "$work" -e "$work/$conf.log" -c "$work/$conf.conf" &
  pids+=($!)
done
until_up "http://127.0.0.1:$origin/plain" "${pids[0]}"
until_up "http://127.0.0.1:$front/plain" "${pids[1]}"

# --- Toll -----------------------------------------------------------------------------------------------------------
export TOLL_DATA_DIR=$work/data TOLL_LISTEN=127.0.0.1:$gate TOLL_ADMIN_LISTEN=none
unset DATABASE_URL
"$toll" serve >"$work/serve.out" 2>"$work/toll.log" &
serve=$!
pids+=($serve)
until_up "http://127.0.0.1:$gate/healthz" $serve
sed "s|@ORIGIN@|$origin|g" "$here/catalog.toml" >"$work/catalog.toml"
"$toll" apply "$work/catalog.toml" >"$work/apply.log"

# Ten thousand keys at once: `toll keys create` would take minutes.
base=$([ -f "$TOLL_DATA_DIR/postgres-is-at" ] && cat "$TOLL_DATA_DIR/postgres-is-at" || echo "$TOLL_DATA_DIR")
socket=$(sed -n 5p "$base/postgres/postmaster.pid")
node "$here/keys.mjs" $keys "$work/keys" \
  | "$psql" -qX -v ON_ERROR_STOP=1 "postgres:///toll?host=$socket&user=postgres" >"$work/psql.log"
key=$(head -n 1 "$work/keys")

resident() { awk '/^VmRSS/ { printf "%.0f MiB", $2 / 1024 }' "/proc/$serve/status"; }
before=$(resident)
KEYS=$work/keys wrk -t1 -c16 -d4s -s "$here/each-key.lua" "http://127.0.0.1:$gate" >"$work/each-key"
grep -q 'Non-2xx' "$work/each-key" && die "keys were refused: $(grep Non-2xx "$work/each-key")"
[ "$(awk '/requests in/ { print $1 }' "$work/each-key")" -ge $keys ] || die "not every key was called within 4 s"
known=$(resident)

# --- side by side ---------------------------------------------------------------------------------------------------
answers() { curl -fsS -o /dev/null -D - -H "X-Api-Key: $key" "$1" | tr -d '\r' | grep -iq "^$2"; }
for path in cached plain; do
  for url in "http://127.0.0.1:$front/$path" "http://127.0.0.1:$gate/api/$path"; do
    wrk -t2 -c64 -d2s -H "X-Api-Key: $key" "$url" >/dev/null
  done
done
answers "http://127.0.0.1:$front/cached" 'x-cache: HIT' || die "nginx does not cache"
answers "http://127.0.0.1:$gate/api/cached" 'x-toll-outcome: cache_hit' || die "Toll does not cache"
answers "http://127.0.0.1:$gate/api/plain" 'x-toll-outcome: forwarded' || die "Toll does not proxy"

# Prints requests/s and p99 in ms of one round.
round() {
  wrk -t2 -c64 -d"${seconds}s" --latency -H "X-Api-Key: $key" "$1" >"$work/wrk"
  ! grep -E 'Non-2xx|Socket errors' "$work/wrk" >&2 || die "$1: not every answer was right"
  awk '$1 == "99%" { n = $2 + 0; if ($2 ~ /us$/) n /= 1000; else if ($2 !~ /ms$/) n *= 1000; p99 = n }
       /^Requests\/sec/ { print $2, p99 }' "$work/wrk"
}
for n in $(seq "$rounds"); do
  for path in cached plain; do
    echo "bench: round $n of $rounds, $path" >&2
    round "http://127.0.0.1:$front/$path" >>"$work/nginx-$path"
    round "http://127.0.0.1:$gate/api/$path" >>"$work/toll-$path"
  done
done

median() { sort -n -k"$2,$2" "$1" | awk -v c="$2" '{ v[NR] = $c } END { print v[int((NR + 1) / 2)] }'; }
echo
echo "wrk -t2 -c64 -d${seconds}s, median of $rounds rounds, 1 KiB answers, $(nproc) cores"
printf '\n%-10s%16s%16s%12s%14s%14s\n' path 'nginx req/s' 'Toll req/s' 'Toll/nginx' 'nginx p99 ms' 'Toll p99 ms'
for path in cached plain; do
  n=$(median "$work/nginx-$path" 1) t=$(median "$work/toll-$path" 1)
  name=$([ $path = plain ] && echo proxied || echo $path)
  printf '%-10s%16.0f%16.0f%12.2f%14.2f%14.2f\n' "$name" "$n" "$t" "$(awk "BEGIN { print $t / $n }")" \
    "$(median "$work/nginx-$path" 2)" "$(median "$work/toll-$path" 2)"
done
printf '\nToll resident: %s before, %s with %s keys known, %s after the rounds\n' "$before" "$known" $keys "$(resident)"
# The books were kept all the while.
"$toll" audit --last 1h >"$work/audit" || { cat "$work/audit" >&2; die "the books do not agree"; }
echo "Toll's books: $(awk '/arrived at the door/ { print $NF }' "$work/audit") requests, door, rollup and log all agree"
