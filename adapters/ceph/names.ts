/** Returns the resource name of a cluster, or of a part of it: `cephClusters/FSID`, `cephClusters/FSID/osds/3`. */
export function cephResource(fsid: string, ...part: readonly string[]): string {
  return ["cephClusters", fsid, ...part].join("/");
}
