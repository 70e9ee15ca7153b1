#!/usr/bin/env bash
# Builds programs of Kubernetes from their Go modules, each once, and keeps them by version.
usage() {
  cat <<'TEXT'
usage: kubernetes-build.sh PROGRAM...
       kubernetes-build.sh directory

PROGRAM is kubeadm, kubelet, kubectl, kube-apiserver, kube-controller-manager, kube-scheduler, kube-proxy, etcd, coredns,
pause or virtual-address (../clusters/kubernetes-images/virtual-address.go). `directory` prints their directory.

environment (default)
  KUBERNETES_VERSION (v1.36.3)                           version of the module k8s.io/kubernetes
  KUBERNETES_CACHE ($XDG_CACHE_HOME/hostplane-kubelab)   one directory per version
  GOPROXY, GOFLAGS                                       as Go reads them
TEXT
}
set -euo pipefail

version=${KUBERNETES_VERSION:-v1.36.3}
cache=${KUBERNETES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hostplane-kubelab}
bin=$cache/$version/bin
here=$(dirname "$(readlink -f "$0")")

say() { echo "kubernetes-build: $*" >&2; }

die() {
  say "$@"
  exit 1
}

# The module of Kubernetes replaces its parts with directories of its repository, which `go install` does not allow.
# This module replaces them with the published ones. etcd has the version that Kubernetes itself requires.
write_module() {
  local mod staging=v0.${version#v1.}
  mod=$(go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p')
  {
    echo "module hostplane-lab-kubernetes"
    sed -n 's/^go \(.*\)$/go \1/p' "$mod"
    echo "require k8s.io/kubernetes $version"
    sed -n 's/^\t\(go.etcd.io\/etcd\/server\/v3 [^ ]*\).*/require \1/p' "$mod"
    sed -n "s/^\t\(k8s.io\/[a-z-]*\) => .\/staging.*/replace \1 => \1 $staging/p" "$mod"
  } >go.mod
}

# coredns_version: the one that kubeadm expects, in kubeadm's notation
coredns_version() { "$bin/kubeadm" config images list --kubernetes-version "$version" | sed -n 's/.*coredns:\(v.*\)/\1/p'; }

# Only with the plugins in kubeadm's configuration: those for clouds take most of the time.
write_coredns_module() {
  local mod coredns
  coredns=$(coredns_version)
  mod=$(go mod download -json "github.com/coredns/coredns@$coredns" | sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p')
  {
    echo "module hostplane-lab-coredns"
    sed -n 's/^go \(.*\)$/go \1/p' "$mod"
    echo "require github.com/coredns/coredns $coredns"
  } >go.mod
  {
    echo 'package main'
    echo 'import "github.com/coredns/coredns/coremain"'
    printf 'import _ "github.com/coredns/coredns/plugin/%s"\n' \
      cache errors forward health kubernetes loadbalance loop metrics ready reload
    echo 'func main() { coremain.Run() }'
  } >main.go
}

# The first process of a pod: it waits, and reaps orphaned child processes of the pod.
write_pause() {
  printf 'module pause\n\ngo 1.20\n' >go.mod
  cat >main.go <<'GO'
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for {
			if pid, _ := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 {
				break
			}
		}
	}
}
GO
}

package_of() {
  case $1 in
    pause | virtual-address | coredns) echo . ;;
    etcd) echo go.etcd.io/etcd/server/v3 ;;
    *) echo "k8s.io/kubernetes/cmd/$1" ;;
  esac
}

# compile PROGRAM
compile() {
  [ ! -x "$bin/$1" ] || return 0
  command -v go >/dev/null || die "go is missing"
  say "building $1 $version"
  # Files of the program built before.
  rm -f go.mod go.sum main.go
  case $1 in
    coredns) write_coredns_module ;;
    pause) write_pause ;;
    virtual-address) write_module && cp "$here/../clusters/kubernetes-images/virtual-address.go" main.go ;;
    *) write_module ;;
  esac
  local commit=0000000000000000000000000000000000000000
  local stamp="-X k8s.io/component-base/version.gitVersion=$version -X k8s.io/component-base/version.gitCommit=$commit"
  GOFLAGS="-mod=mod -buildvcs=false ${GOFLAGS:-}" CGO_ENABLED=0 \
    nice -n 15 go build -trimpath -ldflags="-s -w $stamp" -o "built/$1" "$(package_of "$1")"
  mkdir -p "$bin"
  mv "built/$1" "$bin/$1"
}

[ $# -gt 0 ] || { usage; exit 2; }
if [ "$1" = directory ]; then
  echo "$bin"
  exit
fi
for program in "$@"; do
  case $program in
    kubeadm | kubelet | kubectl | kube-apiserver | kube-controller-manager | kube-scheduler | kube-proxy | etcd | coredns | pause | virtual-address) ;;
    *) die "unknown program $program" ;;
  esac
done
mkdir -p "$cache"
source=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$source"' EXIT
cd "$source"
for program in "$@"; do
  compile "$program"
done
