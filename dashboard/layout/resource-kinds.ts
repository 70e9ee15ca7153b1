import { clusterKind } from "../pages/clusters/cluster-kinds.tsx";
import { machineKinds } from "../pages/hypervisors/machine-kinds.tsx";
import { podKinds } from "../pages/pods/pod-kinds.tsx";
import { storageKinds } from "../pages/storage/storage-kinds.tsx";
import { volumeKinds } from "../pages/volumes/volume-kinds.tsx";
import type { ResourceKind } from "../resources/kind.ts";

/** Everything that has a page or a list. */
export const resourceKinds: readonly ResourceKind[] = [
  ...volumeKinds,
  ...storageKinds,
  ...machineKinds,
  clusterKind,
  ...podKinds,
];
