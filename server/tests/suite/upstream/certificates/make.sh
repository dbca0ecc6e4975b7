#!/usr/bin/env bash
# Makes the certificates of these tests anew: two authorities, a server of the first, a client of the second. Good for a hundred years,
# and from long ago on, whatever the clock of the machine says: run it under `faketime 2020-01-01`.
set -euo pipefail
cd "$(dirname "$0")"
authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj "/CN=$1" \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign -keyout "$1.key" -out "$1.pem"
}
signed() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr"
  openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -days 36500 -set_serial "$3" -out "$1.pem" \
    -extfile <(printf 'basicConstraints=CA:FALSE\nextendedKeyUsage=%s\nsubjectAltName=DNS:localhost,IP:127.0.0.1\n' "$4")
}
authority servers
authority clients
signed server servers 1 serverAuth
signed client clients 2 clientAuth
# Authorities sign nothing more.
rm -f ./*.csr servers.key clients.key
