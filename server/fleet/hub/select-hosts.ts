import { hostUnknown } from "../host-errors.ts";
import type { HostRecord } from "../store/hosts.ts";
import { hostsWith } from "./hosts-with.ts";
import type { Hub } from "./hub.ts";

/** Hosts to select; each condition that is not empty must be met. */
export interface HostFilter {
  /** Names; an empty one is the hub itself. */
  readonly hosts: ReadonlySet<string>;
  readonly hostLabels: readonly (readonly [string, string])[];
}

/** The hosts that a filter selects. */
export interface SelectedHosts {
  /** Whether the hub itself is selected. It has no labels. */
  readonly isHubSelected: boolean;
  /** By name. */
  readonly hosts: readonly HostRecord[];
}

/** @throws InfraError HOST_UNKNOWN */
export function selectHosts(
  { hosts: { list, find } }: { readonly hosts: Pick<Hub["hosts"], "list" | "find"> },
  { hosts: names, hostLabels }: HostFilter,
): SelectedHosts {
  const all = list();
  for (const name of names) {
    if (name !== "" && find(name) === undefined) {
      throw hostUnknown(name, all);
    }
  }
  const labelled = hostLabels.length === 0 ? all : hostsWith(all, Object.fromEntries(hostLabels));
  return {
    isHubSelected: hostLabels.length === 0 && (names.size === 0 || names.has("")),
    hosts: names.size === 0 ? labelled : labelled.filter(({ name }) => names.has(name)),
  };
}
