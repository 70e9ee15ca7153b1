/** A kind of objects. All objects of it are watched. */
export interface WatchedKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** The kind's plural, as in paths and roles. */
  readonly resource: string;
  readonly isNamespaced: boolean;
}

/**
 * Everything that the gateway requests from a Kubernetes cluster besides its version.
 * deploy/kubernetes/cluster-role.yaml grants exactly this.
 */
export const watchedKinds = {
  nodes: { group: "", version: "v1", resource: "nodes", isNamespaced: false },
  pods: { group: "", version: "v1", resource: "pods", isNamespaced: true },
  deployments: { group: "apps", version: "v1", resource: "deployments", isNamespaced: true },
  cephClusters: { group: "ceph.rook.io", version: "v1", resource: "cephclusters", isNamespaced: true },
  blockPools: { group: "ceph.rook.io", version: "v1", resource: "cephblockpools", isNamespaced: true },
  filesystems: { group: "ceph.rook.io", version: "v1", resource: "cephfilesystems", isNamespaced: true },
  objectStores: { group: "ceph.rook.io", version: "v1", resource: "cephobjectstores", isNamespaced: true },
  koorClusters: {
    group: "storage.koor.tech",
    version: "v1alpha1",
    resource: "koorclusters",
    isNamespaced: true,
  },
} as const satisfies Record<string, WatchedKind>;

export type WatchedName = keyof typeof watchedKinds;

export const watchedNames = Object.keys(watchedKinds) as readonly WatchedName[];

/** Returns the API path that lists and watches a kind. */
export function pathOf({ group, version, resource, isNamespaced }: WatchedKind, namespace: string): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  return isNamespaced
    ? `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}`
    : `${root}/${resource}`;
}

/** Returns the name in kubectl's notation: `nodes`, `deployments.apps`. */
export function titleOf({ group, resource }: WatchedKind): string {
  return group === "" ? resource : `${resource}.${group}`;
}
