import type { HostRecord } from "../store/hosts.ts";

/** Returns the hosts that have all of the labels. */
export function hostsWith(
  hosts: readonly HostRecord[],
  labels: Readonly<Record<string, string>>,
): readonly HostRecord[] {
  const wanted = Object.entries(labels);
  return hosts.filter((host) => wanted.every(([name, value]) => host.labels[name] === value));
}
