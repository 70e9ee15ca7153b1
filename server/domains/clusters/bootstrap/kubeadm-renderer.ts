import { type NodeFile, renderCloudConfig } from "./cloud-config.ts";
import type { ClusterPki } from "./cluster-pki.ts";
import { kubeVipFiles } from "./kube-vip.ts";
import { imagePullPolicyOf, initDocuments, joinDocument } from "./kubeadm-config.ts";
import {
  kubeadmConfigPath,
  type NodeScriptOptions,
  nodeScriptCommand,
  nodeScriptFile,
} from "./node-script.ts";
import type { ClusterPlan, CniSource, NodePlan, NodeRenderer } from "./renderer.ts";
import { renderYaml } from "./yaml-text.ts";

const cniPath = "/etc/hostplane/cni.yaml";
const pkiPath = "/etc/kubernetes/pki";

/** Kernel modules and settings that Kubernetes needs (kubernetes.io/docs/setup/production-environment/container-runtimes). */
const systemFiles: readonly NodeFile[] = [
  {
    path: "/etc/modules-load.d/90-kubernetes.conf",
    content: "overlay\nbr_netfilter\n",
    permissions: "0644",
  },
  {
    path: "/etc/sysctl.d/90-kubernetes.conf",
    content: "net.bridge.bridge-nf-call-iptables = 1\nnet.ipv4.ip_forward = 1\n",
    permissions: "0644",
  },
];

/** The kubelet does not start with swap enabled. Masking swap.target keeps it off after a reboot. */
const systemCommands: readonly (readonly string[])[] = [
  ["swapoff", "--all"],
  ["systemctl", "mask", "swap.target"],
  ["modprobe", "--all", "overlay", "br_netfilter"],
  ["sysctl", "--system"],
  ["systemctl", "enable", "--now", "containerd"],
  ["systemctl", "enable", "kubelet"],
];

/**
 * Creates the renderer for images that contain containerd, kubelet, kubeadm, kubectl and all container images. cloud-init
 * writes files and runs kubeadm; nothing is downloaded unless the cluster has an image repository.
 */
export function createKubeadmRenderer(): NodeRenderer {
  return {
    renderFirstControlPlane(cluster, node, pki, token) {
      const files = [...controlPlaneFiles(cluster, node, pki, true), ...cniFiles(cluster.cni)];
      const cni = "path" in cluster.cni ? cluster.cni.path : cniPath;
      const command = {
        ...scriptOptionsOf(cluster, node, "control-plane"),
        mode: "init",
        cniPath: cni,
      } as const;
      return renderMachine(files, initDocuments(cluster, node, token), command);
    },
    renderControlPlane(cluster, node, pki, ticket) {
      const files = controlPlaneFiles(cluster, node, pki, false);
      const documents = [joinDocument(cluster, node, ticket)];
      return renderMachine(files, documents, scriptOptionsOf(cluster, node, "control-plane"));
    },
    renderWorker(cluster, node, ticket) {
      const options = scriptOptionsOf({ ...cluster, kubeVipImage: undefined }, node, "worker");
      return renderMachine([], [joinDocument(undefined, node, ticket)], options);
    },
  };
}

function scriptOptionsOf(
  { imageRepository, kubeVipImage }: Pick<ClusterPlan, "imageRepository" | "kubeVipImage">,
  { version }: NodePlan,
  role: NodeScriptOptions["role"],
): NodeScriptOptions {
  return { mode: "join", role, version, needsImages: imageRepository === undefined, kubeVipImage };
}

function renderMachine(
  files: readonly NodeFile[],
  documents: readonly object[],
  options: NodeScriptOptions,
): string {
  const config: NodeFile = { path: kubeadmConfigPath, content: renderYaml(documents), permissions: "0600" };
  return renderCloudConfig(
    [...systemFiles, ...files, nodeScriptFile, config],
    // cloud-init fails when the last command does.
    [...systemCommands, nodeScriptCommand(options)],
  );
}

function controlPlaneFiles(
  cluster: ClusterPlan,
  { version }: NodePlan,
  pki: ClusterPki,
  isFirst: boolean,
): readonly NodeFile[] {
  const { endpoint, kubeVipImage } = cluster;
  const kubeVip =
    endpoint === undefined || kubeVipImage === undefined
      ? []
      : kubeVipFiles(kubeVipImage, imagePullPolicyOf(cluster), endpoint, version, isFirst);
  return [...pkiFiles(pki), ...kubeVip];
}

/**
 * Returns the CA and service account keys where kubeadm expects existing keys. kubeadm signs the other certificates with them
 * on the machine.
 */
function pkiFiles({ kubernetesCa, etcdCa, frontProxyCa, serviceAccount }: ClusterPki): readonly NodeFile[] {
  const authorities = [
    ["ca", kubernetesCa],
    ["etcd/ca", etcdCa],
    ["front-proxy-ca", frontProxyCa],
  ] as const;
  return [
    ...authorities.flatMap(([name, { certificatePem, privateKeyPem }]): NodeFile[] => [
      { path: `${pkiPath}/${name}.crt`, content: certificatePem, permissions: "0644" },
      { path: `${pkiPath}/${name}.key`, content: privateKeyPem, permissions: "0600" },
    ]),
    { path: `${pkiPath}/sa.pub`, content: serviceAccount.publicKeyPem, permissions: "0644" },
    { path: `${pkiPath}/sa.key`, content: serviceAccount.privateKeyPem, permissions: "0600" },
  ];
}

function cniFiles(cni: CniSource): readonly NodeFile[] {
  return "path" in cni ? [] : [{ path: cniPath, content: cni.manifest, permissions: "0644" }];
}
