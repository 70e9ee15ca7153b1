#!/usr/bin/env bash
# Builds the image of a cluster machine. See docs/how-to/build-a-machine-image.md.
usage() {
  cat <<'TEXT'
usage: machine-image.sh --binaries DIR --images DIR [OPTION...] OUTPUT

Builds a Debian system with containerd, kubeadm, kubelet, kubectl and container images. OUTPUT is a file that ends in
.tar.gz or .tar, or a directory that does not exist yet. Needs root and mmdebstrap.

  --binaries DIR   directory of the programs kubeadm, kubelet and kubectl, all of the same version
  --images DIR     directory of container images as archives (*.tar) for `ctr images import`
  --image NAME     fail if this image is missing, e.g. kube-vip; kubeadm's own are always required; may be repeated
  --package NAME   an additional Debian package, e.g. linux-image-amd64; may be repeated
  --suite NAME     Debian release (default bookworm)
  --mirror SOURCE  a URL or a line of sources.list (default: mmdebstrap's); may be repeated
TEXT
}
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin

say() { echo "machine-image: $*" >&2; }

die() {
  say "$@"
  exit 1
}

binaries=
archives=
suite=bookworm
mirrors=()
further_images=()
packages=(
  systemd systemd-sysv dbus udev kmod cloud-init openssh-server netbase ca-certificates curl
  iproute2 iptables nftables conntrack ebtables ethtool socat procps util-linux mount e2fsprogs
  containerd runc containernetworking-plugins
)
while [ $# -gt 0 ]; do
  case $1 in
    --binaries) binaries=$2; shift 2 ;;
    --images) archives=$2; shift 2 ;;
    --image) further_images+=("$2"); shift 2 ;;
    --package) packages+=("$2"); shift 2 ;;
    --suite) suite=$2; shift 2 ;;
    --mirror) mirrors+=("$2"); shift 2 ;;
    -h | --help) usage; exit ;;
    -*) die "unknown option $1" ;;
    *) break ;;
  esac
done
[ $# -eq 1 ] && [ -n "$binaries" ] && [ -n "$archives" ] || { usage >&2; exit 2; }
output=$1

check_input() {
  local program
  [ ! -e "$output" ] || die "$output exists already"
  for program in kubeadm kubelet kubectl; do
    [ -x "$binaries/$program" ] || die "$binaries/$program is missing or not executable"
  done
  compgen -G "$archives/*.tar" >/dev/null || die "$archives has no image archive (*.tar)"
  [ "$(id -u)" = 0 ] || die "must run as root: containerd unpacks the container images"
  command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: apt-get install mmdebstrap"
}

# Passes the version, because without it kubeadm asks a server for the newest one.
list_required_images() {
  "$binaries/kubeadm" config images list --kubernetes-version "$("$binaries/kubeadm" version --output short)"
  [ ${#further_images[@]} = 0 ] || printf '%s\n' "${further_images[@]}"
}

make_system() {
  say "installing Debian $suite"
  mmdebstrap --quiet --variant=minbase --mode=root --include="$(IFS=, && echo "${packages[*]}")" \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    "$suite" "$root" "${mirrors[@]}"
}

install_programs() {
  install -m 755 "$binaries"/{kubeadm,kubelet,kubectl} "$root/usr/bin/"
  mkdir -p "$root/opt/cni" "$root/etc/cni/net.d" "$root/etc/kubernetes/manifests"
  # CNI implementations look for plugins here and install their own.
  [ -e "$root/opt/cni/bin" ] || ln -s ../../usr/lib/cni "$root/opt/cni/bin"
}

# The same units as in the Kubernetes project's packages.
write_kubelet_service() {
  mkdir -p "$root/etc/systemd/system/kubelet.service.d"
  cat >"$root/etc/systemd/system/kubelet.service" <<'UNIT'
[Unit]
Description=kubelet: The Kubernetes Node Agent
Documentation=https://kubernetes.io/docs/
Wants=network-online.target
After=network-online.target containerd.service
StartLimitIntervalSec=0

[Service]
ExecStart=/usr/bin/kubelet
Restart=always
RestartSec=10

[Install]
WantedBy=multi-user.target
UNIT
  cat >"$root/etc/systemd/system/kubelet.service.d/10-kubeadm.conf" <<'UNIT'
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
UNIT
}

write_containerd_configuration() {
  local pause
  pause=$(grep '/pause:' <<<"$required") || die "kubeadm lists no pause image"
  mkdir -p "$root/etc/containerd"
  cat >"$root/etc/containerd/config.toml" <<TOML
version = 2

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$pause"

[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "/opt/cni/bin"
  conf_dir = "/etc/cni/net.d"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = true
TOML
}

# Without the package locales, cloud-init cannot set its default locale and reports a failure.
configure_cloud_init() { echo 'locale: C.UTF-8' >"$root/etc/cloud/cloud.cfg.d/80-hostplane.cfg"; }

# Runs in its own namespaces, so that mounts and processes end with it. containerd also unpacks the images, so that a machine
# starts its containers without delay. Prints the names of all imported images.
load_images='
  set -euo pipefail
  mount --bind -o ro "$archives" "$root/mnt"
  mount -t proc proc "$root/proc"
  mount -t tmpfs tmpfs "$root/run"
  mount -t tmpfs tmpfs "$root/tmp"
  mount --rbind /dev "$root/dev"
  chroot "$root" bash -euo pipefail -c "
    containerd --log-level error >&2 &
    for _ in {1..600}; do
      ! ctr version >/dev/null 2>&1 || break
      sleep 0.1
    done
    for archive in /mnt/*.tar; do
      ctr --namespace k8s.io images import \$archive >&2
    done
    ctr --namespace k8s.io images list --quiet
    kill %1
    wait %1 || true
  "
'

import_images() {
  local present image missing=()
  say "importing container images"
  present=$(root=$root archives=$(readlink -f "$archives") \
    unshare --mount --pid --net --fork --kill-child --propagation private bash -c "$load_images")
  for image in $required; do
    grep -qxF -e "$image" -e "docker.io/$image" -e "docker.io/library/$image" <<<"$present" || missing+=("$image")
  done
  [ ${#missing[@]} = 0 ] || die "$archives has no archive of these images: ${missing[*]}"
}

# Each machine generates its own machine id, host name and SSH host keys at its first boot.
clean_system() {
  rm -f "$root"/etc/ssh/ssh_host_*
  : >"$root/etc/machine-id"
  rm -rf "$root/var/lib/dbus/machine-id" "$root/etc/hostname" "$root/etc/resolv.conf" "$root/var/lib/cloud"
  find "$root/var/log" -type f -delete
}

write_output() {
  say "writing $output"
  case $output in
    *.tar.gz) pack | gzip >"$output.part" ;;
    *.tar) pack >"$output.part" ;;
    *) mv "$root" "$output.part" ;;
  esac
  mv "$output.part" "$output"
}

pack() { tar --create --numeric-owner --xattrs --directory "$root" .; }

check_input
required=$(list_required_images)
# Next to the output, since /tmp may be in memory.
work=$(mktemp -d "$(dirname "$output")/machine-image.XXXXXX")
trap 'rm -rf "$work" "$output.part"' EXIT
chmod 755 "$work"
root=$work/root
make_system
install_programs
write_kubelet_service
write_containerd_configuration
configure_cloud_init
import_images
clean_system
write_output
