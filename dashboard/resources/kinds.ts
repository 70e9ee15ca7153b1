import type { Resource } from "../../gen/hostplane/v1/inventory_pb.ts";
import { clusterKind } from "../pages/clusters/cluster-kinds.tsx";
import { machineKinds } from "../pages/hypervisors/machine-kinds.tsx";
import { podKinds } from "../pages/pods/pod-kinds.tsx";
import { storageKinds } from "../pages/storage/storage-kinds.tsx";
import { volumeKinds } from "../pages/volumes/volume-kinds.tsx";
import { healthStatus, type StatusKind } from "../parts/status.tsx";
import type { ResourceKind } from "./kind.ts";

/** All types that have a page or a list, by type. A domain's page contributes its own. */
const kinds: ReadonlyMap<string, ResourceKind> = new Map(
  [...volumeKinds, ...storageKinds, ...machineKinds, clusterKind, ...podKinds].map((kind) => [
    kind.type,
    kind,
  ]),
);

/** Returns what the dashboard knows of a resource's type; undefined for a type without a page. */
export function kindOf({ type }: Resource): ResourceKind | undefined {
  return kinds.get(type);
}

/** Returns the path of the page of a resource, by its name; undefined if there is none. */
export function pathOfResource(resource: Resource | undefined): string | undefined {
  return resource === undefined ? undefined : kindOf(resource)?.pathOf(resource);
}

/** Returns the status of a resource: that of its health, or "off". */
export function statusOfResource(resource: Resource): StatusKind {
  const status = healthStatus(resource.health);
  return status === "ok" && kindOf(resource)?.isOff?.(resource) ? "off" : status;
}
