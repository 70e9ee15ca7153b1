import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { resourcesOf } from "../../live/inventory.ts";
import type { ResourceKind } from "../../resources/kind.ts";

export const osdKind: ResourceKind = {
  type: "osd",
  title: "OSD",
  icon: "disk",
  pathOf: ({ title }) => `/storage/osds/${encodeURIComponent(title.replace(/^osd\./, ""))}`,
  placeOf: hostOf,
  actions: () => [],
};

export const cephHostKind: ResourceKind = {
  type: "cephHost",
  title: "Ceph host",
  icon: "server",
  pathOf: ({ title }) => `/storage/hosts/${encodeURIComponent(title)}`,
  actions: () => [],
};

export const cephPoolKind: ResourceKind = {
  type: "cephPool",
  title: "Ceph pool",
  icon: "ceph",
  pathOf: ({ title }) => `/storage/pools/${encodeURIComponent(title)}`,
  placeOf: (pool) => applicationsOf(pool).join(", "),
  actions: () => [],
};

const cephClusterKind: ResourceKind = {
  type: "cephCluster",
  title: "Ceph cluster",
  icon: "ceph",
  pathOf: () => "/storage",
  placeOf: ({ properties }) => properties.fsid ?? "",
  actions: () => [],
};

/** The Ceph cluster and its parts. Their changes are made with Ceph's own tools. */
export const storageKinds: readonly ResourceKind[] = [osdKind, cephHostKind, cephPoolKind, cephClusterKind];

/** Returns the host of an OSD; empty if it is not known. */
export function hostOf({ labels }: Resource): string {
  return labels.host ?? "";
}

/** Returns the device class of an OSD; empty if it is not known. */
export function osdClassOf({ labels }: Resource): string {
  return labels.device_class ?? "";
}

/** Returns the applications of a pool, such as "rbd". */
export function applicationsOf({ labels }: Resource): readonly string[] {
  const prefix = "application/";
  return Object.keys(labels).flatMap((label) => (label.startsWith(prefix) ? label.slice(prefix.length) : []));
}

/** Returns the daemons of a host, such as "osd.0". */
export function daemonsOf({ properties }: Resource): readonly string[] {
  return properties.daemons?.split(", ") ?? [];
}

/** Returns the name in the inventory of a part of the cluster; empty if there is none. */
export function resourceNamed(type: string, title: string): string {
  return resourcesOf(type).find((resource) => resource.title === title)?.name ?? "";
}
