#!/usr/bin/env bash
# A real kube-apiserver with etcd, for tests that need one. See ../README.md.
usage() {
  cat <<'TEXT'
usage: kubernetes.sh COMMAND

  build        build kube-apiserver, kubeadm and etcd from their Go modules, once
  up           create the directory, keys and certificate, and start both; does nothing if they are up
  start        start kube-apiserver again
  stop         stop kube-apiserver gracefully, which waits for open watches; etcd keeps running
  kill         kill kube-apiserver
  compact      make etcd discard its history
  destroy      kill both, and delete the directory

environment (default)
  KUBERNETES_DIR (/tmp/hostplane-kubernetes)            directory of all files
  KUBERNETES_PORTS (16443 12379 12380)                  on loopback: kube-apiserver, etcd's clients, etcd's peers
  KUBERNETES_OWNER_PID ()                               destroy the cluster when this process ends
  KUBERNETES_VERSION (v1.36.3)                          version of the module k8s.io/kubernetes
  KUBERNETES_CACHE (see kubernetes-build.sh)            cache of the built programs
  KUBERNETES_API_FLAGS ()                               further flags of kube-apiserver

KUBERNETES_DIR has ca.crt of kube-apiserver, and admin.token of a user with all permissions. Nothing else runs: there is no
controller that creates the pods of a Deployment, and nodes are only API objects.
TEXT
}
set -euo pipefail

lab=kubernetes
source "$(dirname "$(readlink -f "$0")")/../lab.sh"
read -r api_port etcd_port peer_port <<<"${KUBERNETES_PORTS:-16443 12379 12380}"
version=${KUBERNETES_VERSION:-v1.36.3}
builder=$(dirname "$self")/kubernetes-build.sh
bin=$(KUBERNETES_VERSION=$version "$builder" directory)

build() { KUBERNETES_VERSION=$version "$builder" kube-apiserver kubeadm etcd; }

# Checks that a process was started for this directory.
owned() { [ -n "$1" ] && tr '\0' '\n' 2>/dev/null <"/proc/$1/cmdline" | grep -qF -- "$dir/"; }

# pid_of etcd|kube-apiserver
pid_of() {
  local pid
  pid=$(cat "$dir/$1.pid" 2>/dev/null) && owned "$pid" && echo "$pid"
}

# launch NAME ARGS...: in its own session, so that it outlives the caller
launch() {
  local name=$1
  shift
  setsid "$bin/$name" "$@" </dev/null >>"$dir/$name.log" 2>&1 &
  echo $! >"$dir/$name.pid"
  # At first it is still the shell that starts it.
  until pid_of "$name" >/dev/null || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
}

# await NAME URL
await() {
  for _ in $(seq 1200); do
    pid_of "$1" >/dev/null || break
    [ "$(curl -s --max-time 5 --cacert "$dir/ca.crt" "$2" -o /dev/null -w '%{http_code}')" != 200 ] || return 0
    sleep 0.1
  done
  tail -n 20 "$dir/$1.log" >&2
  die "$1 does not start"
}

start_etcd() {
  ! pid_of etcd >/dev/null || return 0
  launch etcd --name lab --data-dir "$dir/etcd" --unsafe-no-fsync \
    --listen-client-urls "http://127.0.0.1:$etcd_port" --advertise-client-urls "http://127.0.0.1:$etcd_port" \
    --listen-peer-urls "http://127.0.0.1:$peer_port" --initial-advertise-peer-urls "http://127.0.0.1:$peer_port" \
    --initial-cluster "lab=http://127.0.0.1:$peer_port"
  await etcd "http://127.0.0.1:$etcd_port/health"
}

start() {
  ! pid_of kube-apiserver >/dev/null || return 0
  launch kube-apiserver --etcd-servers "http://127.0.0.1:$etcd_port" --etcd-compaction-interval 0 \
    --bind-address 127.0.0.1 --secure-port "$api_port" --endpoint-reconciler-type none \
    --tls-cert-file "$dir/ca.crt" --tls-private-key-file "$dir/ca.key" \
    --service-account-issuer https://kubernetes.default.svc --service-cluster-ip-range 10.0.0.0/24 \
    --service-account-key-file "$dir/accounts.key" --service-account-signing-key-file "$dir/accounts.key" \
    --token-auth-file "$dir/tokens.csv" --authorization-mode RBAC --disable-admission-plugins ServiceAccount \
    --shutdown-delay-duration 0s --shutdown-send-retry-after=false ${KUBERNETES_API_FLAGS:-}
  await kube-apiserver "https://127.0.0.1:$api_port/readyz"
}

# end SIGNAL NAME
end() {
  local pid
  pid=$(pid_of "$2") || return 0
  kill "-$1" "$pid" 2>/dev/null || true
  while owned "$pid"; do sleep 0.05; done
}

stop() { end TERM kube-apiserver; }

# Uses etcd's API over HTTP, so that no etcd client is needed. The header of an empty read has the newest revision.
compact() {
  local url=http://127.0.0.1:$etcd_port/v3/kv revision
  revision=$(curl -sf "$url/range" -d '{"key":"AA=="}' | sed 's/.*"revision":"\([0-9]*\)".*/\1/')
  curl -sf "$url/compaction" -d "{\"revision\":\"$revision\",\"physical\":true}" >/dev/null
  say "compacted up to $revision"
}

up() {
  [ -x "$bin/kube-apiserver" ] || die "not built yet: $self build"
  mkdir -p "$dir"
  chmod 700 "$dir"
  # Existing keys are reused.
  if [ ! -e "$dir/admin.token" ]; then
    openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
      -keyout "$dir/ca.key" -out "$dir/ca.crt" 2>/dev/null
    openssl genrsa -out "$dir/accounts.key" 2048 2>/dev/null
    openssl rand -hex 16 >"$dir/admin.token"
    echo "$(cat "$dir/admin.token"),admin,admin,system:masters" >"$dir/tokens.csv"
  fi
  start_etcd
  start
  watch_owner "$dir"
}

destroy() {
  end KILL kube-apiserver
  end KILL etcd
  rm -rf "$dir"
}

command=${1:-}
case $command in
  build | up | start | stop | compact | destroy) "$command" ;;
  kill) end KILL kube-apiserver ;;
  *) usage; exit 2 ;;
esac
