# Substitutes for the images of a registry, under the same names, made from npm and Debian packages
# on this machine. They differ from the real ones: PostgreSQL is the embedded build, linked to
# glibc, the object store is the one that the tests of libs/documents run in their process, which
# checks no signatures. The registry, psql, Prometheus and the exporters are Debian's, which are
# older. Neither source has Grafana or Tempo.

node_modules="$root/node_modules"

# The base of the images of the services, as the Dockerfile names it.
node_image() {
  local version
  version="$(sed -n 's/^ARG NODE_VERSION=//p' "$root/docker/Dockerfile")"
  sed -n "s/^FROM \(node:\S*\).*/\1/p" "$root/docker/Dockerfile" | head -n 1 |
    sed "s/\${NODE_VERSION}/$version/"
}

# The image of a third-party service, as compose names it.
composed_image() {
  sed -n "/^  $1:/,/^  [a-z]/s/^    image: //p" "$root"/docker/compose{,.observe}.yaml
}

registry_image() {
  sed -n 's/^export const registryImage = "\(.*\)"$/\1/p' "$root/tools/containers/images.ts"
}

released_images() {
  node_image
  composed_image postgres
  composed_image object-store
  registry_image
}

all_images() {
  released_images
  composed_image prometheus
  composed_image postgres-exporter
  composed_image node-exporter
}

# Copies the machine's libraries that programs are linked to into the paths where they are looked
# up.
add_libraries() {
  local folder="$1" library
  shift
  { ldd "$@" 2>/dev/null || true; } | grep -o ' /[^ ]*\|^\s/[^ ]*' | sort -u |
    while read -r library; do
      case "$library" in "$node_modules"/* | "$folder"/*) continue ;; esac
      [[ -e "$folder$library" ]] || install -D "$library" "$folder$library"
    done
}

# A shell with its tools, users, and a place for temporary files.
make_base() {
  local folder="$1"
  mkdir -p "$folder"/{bin,dev,etc,proc,root,run,sys,usr/bin,usr/local/bin,var}
  mkdir -m 1777 "$folder/tmp"
  ln -s ../run "$folder/var/run"
  install "$engine/bin/busybox" "$folder/bin/busybox"
  chroot "$folder" /bin/busybox --install -s /bin
  ln -s /bin/env "$folder/usr/bin/env"
  printf '%s\n' root:x:0:0::/root:/bin/sh postgres:x:70:70::/:/bin/sh \
    node:x:1000:1000::/home/node:/bin/sh nobody:x:65534:65534::/home:/bin/false \
    >"$folder/etc/passwd"
  printf '%s\n' root:x:0: postgres:x:70: node:x:1000: nobody:x:65534: >"$folder/etc/group"
  install -d -o 1000 -g 1000 "$folder/home/node"
}

# Makes an image of a folder; further arguments are Dockerfile instructions.
import() {
  local name="$1" folder="$2" instructions=() instruction
  shift 2
  for instruction in "$@"; do instructions+=(--change "$instruction"); done
  tar -C "$folder" -c . | docker_here import "${instructions[@]}" - "$name" >/dev/null
}

add_node() {
  local folder="$1" program
  program="$(readlink -f "$node_modules/.bin/node")"
  install "$program" "$folder/usr/local/bin/node"
  add_libraries "$folder" "$program"
}

# Includes the npm of this machine, its registry and certificates, for npm ci in an image's build.
make_node() {
  local folder="$state/node" certificates=/etc/ssl/certs/ca-certificates.crt npm
  npm="$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")"
  make_base "$folder"
  add_node "$folder"
  # The bundler of the board's web part comes with npm, and needs more libraries than Node.
  add_libraries "$folder" "$node_modules"/{@rolldown/binding,lightningcss}-linux-*/*.node
  mkdir -p "$folder/usr/local/lib/node_modules" "$folder/usr/local/etc"
  cp -r "$npm" "$folder/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$folder/usr/local/bin/npm"
  npm config get registry | sed 's/^/registry=/' >"$folder/usr/local/etc/npmrc"
  if [[ -e "$certificates" ]]; then
    install -D "$certificates" "$folder$certificates"
    echo "cafile=$certificates" >>"$folder/usr/local/etc/npmrc"
  fi
  import "$(node_image)" "$folder" 'CMD ["node"]'
}

make_postgres() {
  local folder="$state/postgres" native
  make_base "$folder"
  native="$(cd "$root" && node_modules/.bin/node "$here/native.ts" "$state/unused")"
  cp -r "$native/." "$folder/usr/local/"
  add_libraries "$folder" "$native"/bin/* "$native"/lib/*.so*
  install "$here"/postgres/* "$folder/usr/local/bin/"
  install -D "$engine"/usr/lib/postgresql/*/bin/psql "$folder/usr/local/libexec/psql"
  find "$engine" -name 'libreadline.so.*' -o -name 'libtinfo.so.*' |
    xargs -I {} cp {} "$folder/usr/local/lib/"
  install -d -o 70 -g 70 -m 1777 "$folder"/{run/postgresql,var/lib/postgresql/data}
  import "$(composed_image postgres)" "$folder" 'ENV PGDATA=/var/lib/postgresql/data' \
    'USER postgres' 'ENTRYPOINT ["docker-entrypoint.sh"]' 'CMD ["postgres"]' 'EXPOSE 5432'
}

make_object_store() {
  local folder="$state/object-store" version
  version="$(sed -n 's/.*"fauxqs": "\(.*\)".*/\1/p' "$root/libs/documents/package.json")"
  make_base "$folder"
  add_node "$folder"
  mkdir "$folder/app"
  install -m 644 "$here/object-store/server.mjs" "$folder/app/"
  npm install --prefix "$folder/app" --prefer-offline --no-audit --no-fund --silent \
    "fauxqs@$version" >"$state/npm.log" 2>&1 ||
    without_engine "npm: $(tail -n 1 "$state/npm.log")"
  mkdir -p "$folder/tmp/vgw"
  import "$(composed_image object-store)" "$folder" \
    'ENTRYPOINT ["node", "/app/server.mjs"]' 'EXPOSE 7070'
}

make_registry() {
  local folder="$state/registry"
  make_base "$folder"
  install "$engine/usr/bin/docker-registry" "$folder/usr/local/bin/"
  add_libraries "$folder" "$engine/usr/bin/docker-registry"
  install -D -m 644 "$here/registry.yaml" "$folder/etc/registry.yaml"
  import "$(registry_image)" "$folder" \
    'ENTRYPOINT ["docker-registry", "serve", "/etc/registry.yaml"]' 'EXPOSE 5000'
}

# Makes the image of Prometheus or an exporter, which runs like the published one: in a folder of
# its user.
make_observer() {
  local service="$1" program="$engine/usr/bin/$2" folder="$state/$1"
  make_base "$folder"
  install "$program" "$folder/bin/$service"
  add_libraries "$folder" "$program"
  install -d -o 65534 -g 65534 "$folder/prometheus"
  import "$(composed_image "$service")" "$folder" 'USER nobody' 'WORKDIR /prometheus' \
    "ENTRYPOINT [\"/bin/$service\"]" "EXPOSE $3"
}

make_images() {
  make_node
  make_postgres
  make_object_store
  make_registry
  make_observer prometheus prometheus 9090
  make_observer postgres-exporter prometheus-postgres-exporter 9187
  make_observer node-exporter prometheus-node-exporter 9100
}

# If a container finds itself by name, the engine does everything that the tests need.
try_image() {
  local said
  local script='require("dns").lookup("trial", (error) => process.exit(error ? 1 : 0))'
  docker_here network create trial >/dev/null
  said="$(docker_here run --rm --network trial --name trial "$(node_image)" \
    node -e "$script" 2>&1)" ||
    without_engine "containers do not run here: $(tail -n 1 <<<"$said")"
  docker_here network rm trial >/dev/null
}
