#!/bin/sh
# The used subset of the official image's entrypoint: creates the cluster, the user and the database
# that the environment names, and then runs the server as this process.
set -eu

[ "${1:-}" = postgres ] || exec "$@"

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  user="${POSTGRES_USER:-postgres}"
  printf '%s' "${POSTGRES_PASSWORD:?set it}" >/tmp/password
  initdb --pgdata="$PGDATA" --username="$user" --pwfile=/tmp/password --encoding=UTF8 \
    --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8 --auth-local=trust \
    --auth-host=scram-sha-256
  rm /tmp/password
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  if [ "${POSTGRES_DB:-$user}" != postgres ]; then
    echo "create database \"${POSTGRES_DB:-$user}\"" |
      postgres --single -D "$PGDATA" -j postgres
  fi
fi

exec "$@" -c listen_addresses='*' -c unix_socket_directories=/var/run/postgresql
