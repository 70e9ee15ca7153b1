import { createBootstrapToken } from "../../../../../server/domains/clusters/bootstrap/bootstrap-token.ts";
import {
  caPublicKeyHashOf,
  createClusterPki,
} from "../../../../../server/domains/clusters/bootstrap/cluster-pki.ts";
import { parseKubernetesVersion } from "../../../../../server/domains/clusters/bootstrap/kubernetes-version.ts";
import { nodeLabelsOf } from "../../../../../server/domains/clusters/bootstrap/node-labels.ts";
import type {
  ClusterPlan,
  JoinTicket,
  NodePlan,
} from "../../../../../server/domains/clusters/bootstrap/renderer.ts";

export const pki = await createClusterPki(Date.now());
export const token = createBootstrapToken(Date.parse("2026-11-21T12:00:00Z"), 2 * 3_600_000);
export const endpoint = { host: "192.0.2.10", port: 6443 };
export const ticket: JoinTicket = { endpoint, token, caPublicKeyHash: caPublicKeyHashOf(pki) };

/** A cluster with its own endpoint that pulls no images. */
export const cluster: ClusterPlan = {
  name: "prod",
  endpoint,
  kubeVipImage: "kube-vip:v1.0.1",
  certificateNames: ["prod-api.maas"],
  network: { podSubnet: "10.244.0.0/16", serviceSubnet: "10.96.0.0/12", dnsDomain: "cluster.local" },
  cni: { manifest: "apiVersion: v1\nkind: List\nitems: []\n" },
  imageRepository: undefined,
};

/** Returns a machine with the given version and the label `team=red`. */
export function nodeOf(version: string): NodePlan {
  return {
    name: "node1",
    version: parseKubernetesVersion(version, "version"),
    labels: nodeLabelsOf([{ name: "team", value: "red" }], "gpu", undefined),
  };
}
