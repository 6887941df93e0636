#!/usr/bin/env bash
# Makes the certificates of the TLS tests anew: an authority, a server's certificate for localhost
# from it, and another authority that signed nothing. They are checked in, so that the tests need no
# openssl, and last for a hundred years. They protect nothing, and the keys of the authorities are
# thrown away.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
keys="$(mktemp -d)"
trap 'rm -rf "$keys"' EXIT

curve=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc)
for authority in authority other-authority; do
  openssl req -x509 "${curve[@]}" -days 36500 -subj "/CN=Test $authority" \
    -keyout "$keys/$authority.key" -out "$authority.crt"
done
openssl req "${curve[@]}" -subj "/CN=localhost" -keyout server.key -out "$keys/server.csr"
openssl x509 -req -days 36500 -in "$keys/server.csr" -out server.crt \
  -CA authority.crt -CAkey "$keys/authority.key" -CAcreateserial -CAserial "$keys/serial" \
  -extfile <(echo "subjectAltName=DNS:localhost")
