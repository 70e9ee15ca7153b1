/** Returns the resource name of a cluster for the log, the audit log, errors and plans. Overlong, invalid names are truncated. */
export function clusterResource(name: string): string {
  return `clusters/${name.slice(0, 63)}`;
}
