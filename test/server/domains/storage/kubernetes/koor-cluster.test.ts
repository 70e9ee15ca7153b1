import { test } from "tap";
import type { Manifest } from "../../../../../adapters/kubernetes/sandbox-cluster.ts";
import { UpgradeMode } from "../../../../../gen/resources/stats/stats_pb.ts";
import { koorClusterFrom } from "../../../../../server/domains/storage/kubernetes/koor-cluster.ts";
import { reasonOfCall } from "../../../../adapters/host/reason-of.ts";
import { changed, kubernetesState } from "../kubernetes-state.ts";

test("the resource is converted to the published message", async (t) => {
  t.strictSame(koorClusterFrom(kubernetesState()), {
    koorCluster: {
      name: "sandbox",
      namespace: "rook-ceph",
      spec: {
        useAllDevices: true,
        monitoringEnabled: true,
        dashboardEnabled: true,
        toolboxEnabled: true,
        upgradeOptions: {
          mode: UpgradeMode.NOTIFY,
          endpoint: "https://versions.sandbox.invalid",
          schedule: "0 0 * * *",
        },
        ksdReleaseName: "ksd",
        ksdClusterReleaseName: "ksd-cluster",
      },
      status: {
        totalResources: { nodes: "3", storage: "3Ti", cpu: "24", memory: "96Gi" },
        meetsMinimumResources: false,
        currentVersions: { kube: "v1.36.3", koorOperator: "v0.3.7", ksd: "v1.12.8", ceph: "v16.2.15" },
      },
    },
    missing: [],
  });
});

test("absent fields have the defaults of the definition, and each mode is parsed", async (t) => {
  for (const [mode, expected] of [
    [undefined, UpgradeMode.NOTIFY],
    ["disabled", UpgradeMode.DISABLED],
    ["upgrade", UpgradeMode.UPGRADE],
    ["weekly", UpgradeMode.UNSPECIFIED],
  ] as const) {
    const { koorCluster } = koorClusterFrom(
      kubernetesState(({ koorClusters: [seed] }) => ({
        koorClusters: [{ ...(seed as Manifest), spec: { useAllDevices: false, upgradeOptions: { mode } } }],
      })),
    );
    t.match(koorCluster.spec, {
      useAllDevices: false,
      monitoringEnabled: true,
      ksdReleaseName: "ksd",
      upgradeOptions: { mode: expected, endpoint: "https://versions.koor.tech", schedule: "0 0 * * *" },
    });
  }
});

test("the latest versions are set if the operator reports them", async (t) => {
  const latestVersions = {
    ceph: { version: "v18.2.0", imageUri: "quay.invalid/ceph/ceph", imageHash: "sha256:00" },
    ksd: { version: "v1.13.0", helmRepository: "https://charts.invalid", helmChart: "ksd" },
  };
  const { koorCluster } = koorClusterFrom(
    kubernetesState(({ koorClusters: [seed] }) => ({
      koorClusters: [changed(seed as Manifest, { status: { latestVersions } })],
    })),
  );
  t.match(koorCluster.status?.latestVersions, {
    koorOperator: undefined,
    ceph: { version: "v18.2.0", helmChart: "" },
    ksd: { helmRepository: "https://charts.invalid", imageUri: "" },
  });
});

test("fields that the operator has not reported are unset and listed", async (t) => {
  const silent = koorClusterFrom(
    kubernetesState(({ koorClusters: [seed] }) => ({
      koorClusters: [{ ...(seed as Manifest), status: undefined }],
    })),
  );
  t.equal(silent.koorCluster.status, undefined);
  t.match(silent.missing, [{ field: "koor_cluster.status" }]);
  const began = koorClusterFrom(
    kubernetesState(({ koorClusters: [seed] }) => ({
      koorClusters: [{ ...(seed as Manifest), status: { meetsMinimumResources: true } }],
    })),
  );
  t.strictSame(began.koorCluster.status, { meetsMinimumResources: true });
  t.match(began.missing, [
    { field: "koor_cluster.status.total_resources" },
    { field: "koor_cluster.status.current_versions" },
  ]);
});

test("the first of several KoorClusters by name is returned; without any it is not found", async (t) => {
  const { koorCluster } = koorClusterFrom(
    kubernetesState(({ koorClusters: [seed] }) => ({
      koorClusters: ["z", "b"].map((name) => ({
        ...(seed as Manifest),
        metadata: { name, namespace: "rook-ceph" },
      })),
    })),
  );
  t.equal(koorCluster.name, "b");
  const without = kubernetesState(() => ({ koorClusters: [] }));
  t.equal(await reasonOfCall(() => koorClusterFrom(without)), "KOOR_CLUSTER_NOT_FOUND");
  const denied = kubernetesState(undefined, { koorClusters: "The account may not list koorclusters" });
  t.equal(await reasonOfCall(() => koorClusterFrom(denied)), "FIGURE_UNAVAILABLE");
});
