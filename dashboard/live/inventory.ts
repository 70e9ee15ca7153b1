import type { CallOptions } from "@connectrpc/connect";
import { computed, signal } from "@preact/signals";
import type {
  DomainProblem,
  HostInventory,
  Resource,
  WatchResourcesResponse,
} from "../../gen/hostplane/v1/inventory_pb.ts";
import { keyOfResource } from "../host/key-of-resource.ts";
import { client } from "../session.ts";
import { whileVisible } from "./while-visible.ts";

/** All resources that the user may see, and whether the page has all of them. */
export interface Inventory {
  /** Those of the gateway itself, by name. */
  readonly resources: ReadonlyMap<string, Resource>;
  /** On a hub: those of its hosts, by `keyOfResource`. */
  readonly ofHosts: ReadonlyMap<string, Resource>;
  /** On a hub: how current those of each host are, by its name. */
  readonly hosts: ReadonlyMap<string, HostInventory>;
  /** Domains of the gateway itself whose resources are missing or stale. */
  readonly problems: readonly DomainProblem[];
  readonly isComplete: boolean;
  /** The error that ended the stream. */
  readonly error: unknown;
}

const nothing: Inventory = {
  resources: new Map(),
  ofHosts: new Map(),
  hosts: new Map(),
  problems: [],
  isComplete: false,
  error: undefined,
};

/** Live, for the whole page: lists, the navigation, the overview and the palette use one stream. */
export const inventory = signal<Inventory>(nothing);

/** The gateway's own resources of each type. */
export const resourcesByType = computed<ReadonlyMap<string, readonly Resource[]>>(() =>
  Map.groupBy(inventory.value.resources.values(), ({ type }) => type),
);

/** Returns the gateway's own resources of a type. */
export function resourcesOf(type: string): readonly Resource[] {
  return resourcesByType.value.get(type) ?? [];
}

/** Returns a resource by its name and host; undefined if there is none. @param host empty for the gateway itself */
export function resourceAt(host: string, name: string): Resource | undefined {
  const { resources, ofHosts } = inventory.value;
  return (host === "" ? resources : ofHosts).get(keyOfResource({ host, name }));
}

/** Returns a figure of a resource; undefined if it is not known. */
export function figureOf({ figures }: Resource, name: string): number | undefined {
  return figures.find((figure) => figure.name === name)?.value;
}

/** Returns what is used of a resource in percent, from its figures; undefined if it has none. */
export function usedPercentOf(resource: Resource): number | undefined {
  const size = figureOf(resource, "size");
  const free = figureOf(resource, "free");
  const used =
    figureOf(resource, "used") ?? (size === undefined || free === undefined ? undefined : size - free);
  const stored = figureOf(resource, "stored");
  if (size === undefined && stored !== undefined && free !== undefined && stored + free > 0) {
    // A Ceph pool has no size of its own; what is free in it is after replication, as what is stored.
    return (stored / (stored + free)) * 100;
  }
  if (used === undefined || size === undefined || size <= 0) {
    return figureOf(resource, "data_used");
  }
  return (used / size) * 100;
}

/** Follows the inventory until the returned function is called. */
export function followInventory(): () => void {
  const stop = whileVisible((stopSignal) => void follow(stopSignal));
  return () => {
    stop();
    inventory.value = nothing;
  };
}

/** The state that the messages of a stream describe. */
interface Next {
  readonly resources: Map<string, Resource>;
  readonly ofHosts: Map<string, Resource>;
  readonly hosts: Map<string, HostInventory>;
}

async function follow(stopSignal: AbortSignal): Promise<void> {
  // Messages of one state are collected, so that a list is sorted and drawn once.
  let next: Next | undefined;
  try {
    const open = (options: CallOptions) => {
      // A new stream begins with the whole state.
      next = { resources: new Map(), ofHosts: new Map(), hosts: new Map() };
      return client.inventory.watchResources({}, options);
    };
    for await (const message of client.watch(open, { signal: stopSignal })) {
      const shown = inventory.value;
      next ??= {
        resources: new Map(shown.resources),
        ofHosts: new Map(shown.ofHosts),
        hosts: new Map(shown.hosts),
      };
      take(message, next);
      const isFirst = shown.resources.size === 0;
      if (message.synced || isFirst) {
        const problems = message.problems.filter(({ host }) => host === "");
        inventory.value = { ...next, problems, isComplete: message.synced, error: undefined };
        next = undefined;
      }
    }
  } catch (error) {
    if (!stopSignal.aborted) {
      inventory.value = { ...inventory.value, error };
    }
  }
}

function take(message: WatchResourcesResponse, { resources, ofHosts, hosts }: Next): void {
  for (const name of message.removed) {
    resources.delete(name);
  }
  for (const removed of message.removedOnHosts) {
    ofHosts.delete(keyOfResource(removed));
  }
  for (const name of message.removedHosts) {
    hosts.delete(name);
  }
  for (const resource of message.changed) {
    (resource.host === "" ? resources : ofHosts).set(keyOfResource(resource), resource);
  }
  for (const host of message.hosts) {
    hosts.set(host.host, host);
  }
}
