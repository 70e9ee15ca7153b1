import type { CallOptions } from "@connectrpc/connect";
import { computed, signal } from "@preact/signals";
import { type DomainProblem, type Resource, ResourceHealth } from "../../gen/hostplane/v1/inventory_pb.ts";
import { client } from "../session.ts";
import { whileVisible } from "./while-visible.ts";

/** All resources that the user may see, and whether the page has all of them. */
export interface Inventory {
  /** By name. */
  readonly resources: ReadonlyMap<string, Resource>;
  /** Domains whose resources are missing or stale. */
  readonly problems: readonly DomainProblem[];
  readonly isComplete: boolean;
  /** The error that ended the stream. */
  readonly error: unknown;
}

const nothing: Inventory = { resources: new Map(), problems: [], isComplete: false, error: undefined };

/** Live, for the whole page: lists, the navigation, the overview and the palette use one stream. */
export const inventory = signal<Inventory>(nothing);

/** The resources of each type. */
export const resourcesByType = computed<ReadonlyMap<string, readonly Resource[]>>(() =>
  Map.groupBy(inventory.value.resources.values(), ({ type }) => type),
);

/** Returns the resources of a type. */
export function resourcesOf(type: string): readonly Resource[] {
  return resourcesByType.value.get(type) ?? [];
}

/** Reports whether a resource does not work as it should. */
export function isTroubled({ health }: Resource): boolean {
  return health === ResourceHealth.FAILED || health === ResourceHealth.DEGRADED;
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

async function follow(stopSignal: AbortSignal): Promise<void> {
  // Messages of one state are collected, so that a list is sorted and drawn once.
  let next: Map<string, Resource> | undefined;
  try {
    const open = (options: CallOptions) => {
      // A new stream begins with the whole state.
      next = new Map();
      return client.inventory.watchResources({}, options);
    };
    for await (const message of client.watch(open, { signal: stopSignal })) {
      const { changed, removed, problems, synced } = message;
      next ??= new Map(inventory.value.resources);
      for (const name of removed) {
        next.delete(name);
      }
      for (const resource of changed) {
        next.set(resource.name, resource);
      }
      const isFirst = inventory.value.resources.size === 0;
      if (synced || isFirst) {
        inventory.value = { resources: next, problems, isComplete: synced, error: undefined };
        next = synced ? undefined : new Map(next);
      }
    }
  } catch (error) {
    if (!stopSignal.aborted) {
      inventory.value = { ...inventory.value, error };
    }
  }
}
