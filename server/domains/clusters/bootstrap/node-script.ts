import type { NodeFile } from "./cloud-config.ts";
import { formatKubernetesVersion, type KubernetesVersion } from "./kubernetes-version.ts";

const scriptPath = "/etc/hostplane/make-node.sh";

/** Path of kubeadm's configuration on the machine. */
export const kubeadmConfigPath = "/etc/hostplane/kubeadm.yaml";

/**
 * Prefix of the failure that cloud-init reports to MAAS when a machine could not become a node, after `'cloudinit' `. MAAS
 * stores it as an event of the machine (`add_event_to_node_event_log` of 3.4.10).
 */
export const nodeFailurePrefix = "hostplane: ";

/**
 * Turns the machine into a node. Ends with status 1 at the first failure, which cloud-init reports as its own (`cloud-init
 * status`), and leaves nothing behind that could be mistaken for a node. Arguments are read by no other shell, and this one
 * never evaluates them.
 */
const script = `#!/bin/sh
# Usage: make-node.sh init|join [--images VERSION ROLE] [--kube-vip IMAGE] [--cni FILE]
set -uf
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export KUBECONFIG=/etc/kubernetes/admin.conf
config=\${HOSTPLANE_KUBEADM_CONFIG:-${kubeadmConfigPath}}

# Reports through cloud-init's own webhook, if one is configured.
report() {
  timeout 20 /usr/bin/python3 - "$1" >/dev/null 2>&1 <<'PYTHON'
import sys
from cloudinit import reporting, util
from cloudinit.reporting import events
settings = util.read_conf_with_confd("/etc/cloud/cloud.cfg")
reporting.update_configuration(settings.get("reporting", {}))
events.report_finish_event("modules-final/hostplane", sys.argv[1], events.status.FAIL)
reporting.flush_events()
PYTHON
}

fail() {
  echo "${nodeFailurePrefix}$1" >&2
  report "${nodeFailurePrefix}$1"
  # A partly configured node could be mistaken for one that has joined.
  timeout 180 kubeadm reset --force >/dev/null 2>&1
  systemctl disable --now kubelet >/dev/null 2>&1
  echo "${nodeFailurePrefix}$1" >&2
  exit 1
}

has_image() {
  printf '%s\\n' "$present" | grep -qxF -e "$1" -e "docker.io/$1" -e "docker.io/library/$1"
}

# Without kubectl, kubeadm would create a cluster without a network; without the kubelet it waits for minutes.
require_programs() {
  missing=
  for program in "$@"; do
    command -v "$program" >/dev/null || missing="$missing $program"
  done
  [ -z "$missing" ] || fail "the machine's image lacks these programs:$missing"
  systemctl cat kubelet.service >/dev/null 2>&1 || fail "the machine's image lacks the unit kubelet.service"
}

# The kubelet tries to pull missing images of static pods, and kubeadm notices only at its timeout.
require_images() {
  wanted=$(kubeadm config images list --kubernetes-version "v$1" 2>/dev/null) || fail "kubeadm cannot list the images of Kubernetes $1"
  if [ "$2" = worker ]; then
    wanted=$(printf '%s\\n' "$wanted" | grep -E '/(kube-proxy|pause):')
  fi
  present=$(timeout 30 ctr --namespace k8s.io images list --quiet) || fail "containerd does not respond"
  missing=
  for image in $wanted "$kube_vip"; do
    [ -z "$image" ] || has_image "$image" || missing="$missing $image"
  done
  [ -z "$missing" ] || fail "the machine's image lacks these container images, and pulling is disabled:$missing"
}

apply() {
  # The address of the cluster's endpoint may still move; the machine's own API server is named where only it uses it.
  own=$(kubectl --kubeconfig /etc/kubernetes/controller-manager.conf config view --output 'jsonpath={.clusters[0].cluster.server}')
  # It takes the API server a moment to serve the kinds that the manifest itself defines.
  for try in 1 2 3 4 5 6 7 8 9 10; do
    [ "$try" = 1 ] || sleep 10
    kubectl apply \${own:+--server "$own"} --server-side --filename "$1" && return
  done
  fail "the CNI manifest cannot be applied: kubectl apply failed 10 times"
}

mode=$1
shift
version=
role=
kube_vip=
cni=
while [ $# -gt 0 ]; do
  case $1 in
    --images) version=$2 role=$3; shift 3 ;;
    --kube-vip) kube_vip=$2; shift 2 ;;
    --cni) cni=$2; shift 2 ;;
    *) fail "make-node.sh: unknown option $1" ;;
  esac
done

require_programs kubeadm kubelet \${version:+ctr} \${cni:+kubectl}
[ -z "$version" ] || require_images "$version" "$role"
case $mode in
  init)
    # Without it the token is printed to cloud-init's log, which the group adm can read.
    kubeadm init --config "$config" --skip-token-print || fail "kubeadm init failed"
    [ -z "$cni" ] || apply "$cni"
    ;;
  join) kubeadm join --config "$config" || fail "kubeadm join failed" ;;
esac
`;

/** The script as a file of the machine. */
export const nodeScriptFile: NodeFile = { path: scriptPath, content: script, permissions: "0644" };

export interface NodeScriptOptions {
  readonly mode: "init" | "join";
  readonly role: "control-plane" | "worker";
  readonly version: KubernetesVersion;
  /** Whether the machine's image must contain all container images. */
  readonly needsImages: boolean;
  readonly kubeVipImage?: string | undefined;
  /** Manifest of the CNI plugin; only with `init`. */
  readonly cniPath?: string | undefined;
}

/** Returns the command that runs the script. It must be the last command, since its exit status decides over success. */
export function nodeScriptCommand(options: NodeScriptOptions): readonly string[] {
  const { mode, role, version, needsImages, kubeVipImage, cniPath } = options;
  return [
    ...["sh", scriptPath, mode],
    ...(needsImages ? ["--images", formatKubernetesVersion(version), role] : []),
    ...(kubeVipImage === undefined ? [] : ["--kube-vip", kubeVipImage]),
    ...(cniPath === undefined ? [] : ["--cni", cniPath]),
  ];
}
