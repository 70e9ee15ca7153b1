/** A cluster as the log, the audit log, errors and plans name it. A name that could be none is cut. */
export function clusterResource(name: string): string {
  return `clusters/${name.slice(0, 63)}`;
}
