# Unpacks the engine from Debian's packages, starts it with a separate socket and folder, and stops
# it. Nothing is installed, and another engine on this machine is not affected: there is no default
# bridge, no packet-filter rule of this machine, and all mounts are in a namespace that ends with
# the engine.

# The unpacked engine, beside the packages of npm, so that a clean install removes it.
engine="$root/node_modules/.cache/containers-offline/unpacked"
engine_path="$engine/usr/bin:$engine/usr/sbin"
socket="$state/docker.sock"

# Whether an engine answers that can pull images.
has_registry() {
  local image
  command -v docker >/dev/null || return 1
  timeout 10 docker info >/dev/null 2>&1 || return 1
  for image in $(all_images); do
    timeout 300 docker pull --quiet "$image" >/dev/null 2>&1 || return 1
  done
}

require_machine() {
  [[ "$(id -u)" == 0 ]] || without_engine "it takes root"
  command -v apt-get >/dev/null || without_engine "there is no apt-get to get one with"
  [[ -x "$root/node_modules/.bin/node" ]] || without_engine "npm ci comes first"
}

# Debian has Compose 2, and an engine that builds as it requires, since 13; their programs also run
# on older releases. Packages that depend on the machine's C library come from its own release.
newer=trixie
from_newer=(containerd docker-cli docker-compose docker.io)
from_own=(busybox-static docker-registry iptables libip4tc2 libip6tc2 libmnl0
  libnetfilter-conntrack3 libnfnetlink0 libnftnl11 libxtables12 runc tini)
# The packages for images, see images.sh.
for_images=(prometheus prometheus-node-exporter prometheus-postgres-exporter libtinfo6)

download() {
  (cd "$state/packages" && apt-get -qq -o APT::Sandbox::User=root "$@") >>"$state/apt.log" 2>&1 ||
    without_engine "apt-get: $(grep -m 1 '^E:' "$state/apt.log" || echo failed)"
}

dependency() { apt-cache depends "$1" | sed -n "s/^ *Depends: \($2\)$/\1/p" | head -n 1; }

unpack_engine() {
  local archive client draft package
  if [[ -d "$engine" ]]; then return; fi
  mkdir -p "$state/packages" "$state/apt/lists/partial" "$state/apt/archives/partial"
  # A source that does not answer may be one that is not needed here.
  apt-get -qq update >>"$state/apt.log" 2>&1 || true
  # psql and its line-editing library, under their names in this release.
  client="$(dependency postgresql-client 'postgresql-client-[0-9]*')"
  for_images+=("$client" "$(dependency "$client" 'libreadline[0-9].*')")
  download download "${from_own[@]}" "${for_images[@]}"

  archive="$(apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(REPO_URI)' |
    awk '$1 == "Debian" && $2 == "main" { print $3; exit }')"
  echo "deb $archive $newer main" >"$state/apt/sources.list"
  local options=(-o "Dir::Etc::SourceList=$state/apt/sources.list" -o Dir::Etc::SourceParts=-
    -o "Dir::State::Lists=$state/apt/lists" -o "Dir::Cache=$state/apt")
  download "${options[@]}" update
  download "${options[@]}" download "${from_newer[@]}"

  mkdir -p "$(dirname "$engine")"
  draft="$(mktemp -d "$engine.XXXXXX")"
  for package in "$state"/packages/*.deb; do dpkg -x "$package" "$draft"; done
  for package in iptables ip6tables; do ln -s xtables-nft-multi "$draft/usr/sbin/$package"; done
  # A concurrent run may have finished first.
  mv -T "$draft" "$engine" 2>/dev/null || rm -rf "$draft"
}

libraries() { echo "$engine"/usr/lib/*-linux-gnu; }

docker_here() { PATH="$engine_path:$PATH" DOCKER_HOST="unix://$socket" docker "$@"; }

# The engine's many small files are disposable, so they are kept in memory if this much is free, in
# GiB.
plenty=10

# The port of the registry that mirrors Docker Hub.
mirror_port=""

free_port() {
  "$root/node_modules/.bin/node" -e '
    const server = require("net").createServer().listen(0, "127.0.0.1", () => {
      console.log(server.address().port)
      server.close()
    })'
}

start_engine() {
  local deadline=$((SECONDS + 60)) keep="exec"
  mirror_port="$(free_port)"
  mkdir "$state/data"
  if (($(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo) > plenty << 20)); then
    keep="mount -t tmpfs tmpfs '$state/data' && exec"
  fi
  # No storage driver is named: the engine uses overlay2 if the kernel and the file system allow it,
  # otherwise vfs. Packet rules are made only within containers, so that they find each other by
  # name.
  PATH="$engine_path:$PATH" LD_LIBRARY_PATH="$(libraries)" XTABLES_LIBDIR="$(libraries)/xtables" \
    setsid unshare --mount --propagation slave sh -c "$keep \"\$@\"" sh dockerd \
    --host "unix://$socket" --pidfile "$state/docker.pid" \
    --data-root "$state/data" --exec-root "$state/exec" \
    --bridge none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false \
    --ip 127.0.0.1 --registry-mirror "http://127.0.0.1:$mirror_port" \
    </dev/null >"$state/dockerd.log" 2>&1 &
  until docker_here info >/dev/null 2>&1; do
    if ! kill -0 $! 2>/dev/null || ((SECONDS > deadline)); then
      without_engine "dockerd: $(tail -n 1 "$state/dockerd.log")"
    fi
    sleep 0.1
  done
}

# An image only has a digest if it came from a registry. The mirror ends with the containers.
start_mirror() {
  local image name
  docker_here network create mirror >/dev/null
  docker_here run --detach --network mirror --publish "127.0.0.1:$mirror_port:5000" \
    "$(registry_image)" >/dev/null
  for _ in {1..100}; do
    if (exec 3<>"/dev/tcp/127.0.0.1/$mirror_port") 2>/dev/null; then break; fi
    sleep 0.1
  done
  for image in $(released_images); do
    name="127.0.0.1:$mirror_port/$image"
    [[ "$image" == */* ]] || name="127.0.0.1:$mirror_port/library/$image"
    docker_here tag "$image" "$name"
    docker_here push --quiet "$name" >/dev/null || without_engine "the registry takes no images"
    docker_here rmi "$name" >/dev/null
  done
}

# The networks of the tests are real networks of this machine, so they are removed one by one.
stop_engine() {
  local pid containers
  [[ -f "$state/docker.pid" ]] || return 0
  pid="$(<"$state/docker.pid")"
  containers="$(docker_here ps --all --quiet)" || true
  # shellcheck disable=SC2086
  if [[ -n "$containers" ]]; then docker_here rm --force $containers >/dev/null || true; fi
  docker_here network prune --force >/dev/null || true
  kill "$pid" 2>/dev/null || return 0
  # The engine removes the file when it ends; its process id stays until it is reaped.
  for _ in {1..300}; do
    [[ -e "$state/docker.pid" ]] || return 0
    sleep 0.1
  done
  say "dockerd does not end, and is killed"
  kill -9 "$pid" "$(<"$state/exec/containerd/containerd.pid")" 2>/dev/null || true
}

# Sets the variables by which Docker's clients and Testcontainers find the engine.
use_engine() {
  export PATH="$engine_path:$PATH"
  export DOCKER_HOST="unix://$socket" DOCKER_CONFIG="$state/config"
  mkdir -p "$DOCKER_CONFIG"
  printf '{"cliPluginsExtraDirs": ["%s"]}\n' "$engine/usr/libexec/docker/cli-plugins" \
    >"$DOCKER_CONFIG/config.json"
  export TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1 TESTCONTAINERS_RYUK_DISABLED=true
  # Builds need a network, and the engine has none of its own.
  export BUILD_NETWORK=host
}
