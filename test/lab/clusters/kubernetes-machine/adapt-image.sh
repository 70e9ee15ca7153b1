#!/usr/bin/env bash
# Adapts a machine image to a container on a host that uses cgroup v1 and gives it no kernel modules. Usage:
# adapt-image.sh ROOT
set -euo pipefail
root=$1

# A kubelet of 1.35 or later refuses cgroup v1 unless configured otherwise.
mkdir -p "$root/etc/kubernetes/kubelet.conf.d"
cat >"$root/etc/kubernetes/kubelet.conf.d/10-lab.conf" <<'YAML'
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
YAML
echo 'KUBELET_EXTRA_ARGS=--config-dir=/etc/kubernetes/kubelet.conf.d' >"$root/etc/default/kubelet"
cat >"$root/usr/local/bin/kubeadm" <<'SH'
#!/bin/sh
case $1 in
  init | join) exec /usr/bin/kubeadm "$@" --ignore-preflight-errors=SystemVerification ;;
  *) exec /usr/bin/kubeadm "$@" ;;
esac
SH
chmod 755 "$root/usr/local/bin/kubeadm"

# The container has no CAP_SYS_RESOURCE.
sed -i '/sandbox_image/a\  restrict_oom_score_adj = true' "$root/etc/containerd/config.toml"

# The machine uses the host's modules.
modules=$root/lib/modules/$(uname -r)
mkdir -p "$modules"
printf 'kernel/%s.ko\n' overlay br_netfilter >"$modules/modules.builtin"
printf 'module.name=%s\n' overlay br_netfilter | tr '\n' '\0' >"$modules/modules.builtin.modinfo"
chroot "$root" depmod

for unit in systemd-udevd systemd-udev-trigger console-getty; do
  ln -sf /dev/null "$root/etc/systemd/system/$unit.service"
done
mkdir -p "$root/etc/cloud/cloud.cfg.d"
cat >"$root/etc/cloud/cloud.cfg.d/90-lab.cfg" <<'YAML'
datasource_list: [NoCloud]
network: {config: disabled}
YAML
