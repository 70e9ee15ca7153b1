import { isIPv6 } from "node:net";
import type { ApiEndpoint } from "./api-endpoint.ts";
import type { NodeFile } from "./cloud-config.ts";
import type { KubernetesVersion } from "./kubernetes-version.ts";
import { renderYaml } from "./yaml-text.ts";

const hostsPath = "/etc/hostplane/kube-vip-hosts";

/**
 * Returns the files with which kube-vip (0.9 or newer) assigns the endpoint's IP address to one control-plane machine, chosen
 * by leader election, and announces it by ARP. It runs as a static pod beside the API server, which it calls by the name
 * `kubernetes`.
 * @param isFirst true for the machine that initializes the cluster
 */
export function kubeVipFiles(
  image: string,
  imagePullPolicy: "Never" | "IfNotPresent",
  { host, port }: ApiEndpoint,
  version: KubernetesVersion,
  isFirst: boolean,
): readonly NodeFile[] {
  // From 1.29 on, admin.conf has no rights until `kubeadm init` has granted them, and that already needs the address.
  // super-admin.conf has them, but exists only on the first machine (kube-vip issue 684).
  const kubeconfig = isFirst && version.minor >= 29 ? "super-admin.conf" : "admin.conf";
  const environment = {
    vip_arp: "true",
    vip_leaderelection: "true",
    vip_leasename: "plndr-cp-lock",
    // Kubernetes' own values for leader election. With kube-vip's (5, 3, 1) a control plane that is slow for three seconds loses
    // its address; with these it takes up to 15 s longer to take it over from a dead machine.
    vip_leaseduration: "15",
    vip_renewdeadline: "10",
    vip_retryperiod: "2",
    vip_subnet: isIPv6(host) ? "128" : "32",
    cp_enable: "true",
    cp_namespace: "kube-system",
    address: host,
    port: String(port),
  };
  const env = Object.entries(environment).map(([name, value]) => ({ name, value }));
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "kube-vip", namespace: "kube-system" },
    spec: {
      hostNetwork: true,
      priorityClassName: "system-node-critical",
      containers: [
        {
          name: "kube-vip",
          image,
          imagePullPolicy,
          args: ["manager"],
          env: [...env, { name: "vip_nodename", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
          securityContext: { capabilities: { add: ["NET_ADMIN", "NET_RAW"], drop: ["ALL"] } },
          volumeMounts: [
            { name: "kubeconfig", mountPath: "/etc/kubernetes/admin.conf", readOnly: true },
            { name: "hosts", mountPath: "/etc/hosts", readOnly: true },
          ],
        },
      ],
      volumes: [
        { name: "kubeconfig", hostPath: { path: `/etc/kubernetes/${kubeconfig}`, type: "File" } },
        { name: "hosts", hostPath: { path: hostsPath, type: "File" } },
      ],
    },
  };
  return [
    { path: "/etc/kubernetes/manifests/kube-vip.yaml", content: renderYaml([pod]), permissions: "0600" },
    // Instead of the pod's hostAliases, which kubelets of 1.29 did not apply to static pods (kube-vip issue 692).
    { path: hostsPath, content: "127.0.0.1 localhost kubernetes\n::1 localhost\n", permissions: "0644" },
  ];
}
