import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { kubernetesReasons } from "../../../adapters/kubernetes/reasons.ts";
import { createKubernetesSandbox } from "../../../adapters/kubernetes/sandbox.ts";
import { sandboxManifests } from "../../../adapters/kubernetes/sandbox-cluster.ts";
import { okOf } from "../until-state.ts";
import { testKubernetesContract } from "./contract.ts";

testKubernetesContract("sandbox", async () => {
  const kubernetes = createKubernetesSandbox({ keepMs: 100 });
  const titles = { deployments: "deployments.apps in rook-ceph" } as const;
  return {
    kubernetes,
    seeds: sandboxManifests(Date.now(), "rook-ceph"),
    put: async (kind, object) => kubernetes.put(kind, object),
    remove: async (kind, name) => kubernetes.remove(kind, name),
    async deny() {
      kubernetes.setMissing("deployments", `The account may not list ${titles.deployments}`);
    },
    allow: async (kind) => kubernetes.setMissing(kind, undefined),
    async uninstall(kind) {
      for (const { metadata } of kubernetes.manifests(kind)) {
        kubernetes.remove(kind, metadata.name);
      }
      if (kind !== "koorClusters") {
        kubernetes.setMissing(kind, "The cluster has no cephobjectstores.ceph.rook.io in rook-ceph");
      }
    },
    install: async (kind) => kubernetes.setMissing(kind, undefined),
    missHistory: (work) => work(),
    async stopCluster() {
      kubernetes.setOutage(
        new InfraError(kubernetesReasons.KUBERNETES_UNAVAILABLE, "Kubernetes cannot be reached"),
      );
    },
    startCluster: async () => kubernetes.setOutage(undefined),
  };
});

test("its nodes are the hosts of the Ceph sandbox, in the given namespace", async (t) => {
  const kubernetes = createKubernetesSandbox({ namespace: "elsewhere" });
  t.teardown(() => kubernetes.close());
  const { value } = await kubernetes.read();
  t.strictSame(
    okOf(value.nodes).map(({ name }) => name),
    ["sandbox-ceph-1", "sandbox-ceph-2", "sandbox-ceph-3"],
  );
  t.ok(okOf(value.deployments).every(({ namespace }) => namespace === "elsewhere"));
});
