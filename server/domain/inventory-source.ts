import type { InfraError } from "../../adapters/host/infra-error.ts";

/** What a state means: `ok` also for what is off on purpose, `unknown` for what cannot be determined. */
export type ResourceHealth = "ok" | "degraded" | "failed" | "unknown";

/** A number of a resource in its unit; an empty unit is a count. A time is in seconds since 1970. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: "bytes" | "percent" | "seconds" | "";
}

/** A resource in the shape that all domains share. */
export interface Resource {
  /** Unique in the gateway, and the same in operations, events and the audit log: `volumeGroups/vg0/volumes/data`. */
  readonly name: string;
  /** Such as `volume`. */
  readonly type: string;
  /** Name for people. */
  readonly title: string;
  /** In the words of the system. */
  readonly state: string;
  readonly health: ResourceHealth;
  readonly figures: readonly Figure[];
  /** A tag without a value has an empty value. */
  readonly labels: Readonly<Record<string, string>>;
  /** What the system says about it, such as a volume's device class; people set labels. Never an empty value. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Why the health is not ok, as a sentence. */
  readonly reason?: string;
}

/** All resources of a source at one moment. */
export interface ListedResources {
  /** The same array as long as nothing has changed. */
  readonly resources: readonly Resource[];
  /** When the read began that they come from (performance.now(), milliseconds); undefined for a last known state. */
  readonly readAtMs: number | undefined;
  /** Why the resources are a last known state. */
  readonly staleBecause?: InfraError;
}

/** Types of resources that belong together. A domain may have several. */
export interface ResourceTypes {
  readonly domain: string;
  readonly types: readonly string[];
  /** Full names of the services by which the resources can be read otherwise: a caller must be allowed to call one of them. */
  readonly services: readonly string[];
}

/** What a domain contributes to the inventory: the resources of some types. */
export interface InventorySource extends ResourceTypes {
  /** @throws InfraError when the system cannot be read and no last known state exists */
  read(signal: AbortSignal): Promise<ListedResources>;
  /** As `read`, but never makes the gateway read the system more often; absent: `read` does not either. */
  sample?(signal: AbortSignal): Promise<ListedResources>;
  /** Calls back when the resources may have changed. Returns the function that ends it. */
  subscribe(onChange: () => void): () => void;
}

/** Subscribes to several sources of changes. Returns the function that ends all subscriptions. */
export function subscribeToAll(
  subscriptions: readonly InventorySource["subscribe"][],
  onChange: () => void,
): () => void {
  const ends = subscriptions.map((subscribe) => subscribe(onChange));
  return () => {
    for (const end of ends) {
      end();
    }
  };
}

/** A figure in bytes. JSON clients get a number, which is exact up to 8 PiB. */
export function bytes(name: string, value: bigint): Figure {
  return { name, value: Number(value), unit: "bytes" };
}

/** A figure that counts. */
export function count(name: string, value: number): Figure {
  return { name, value, unit: "" };
}

/** A time, to the second. */
export function time(name: string, atMs: number): Figure {
  return { name, value: Math.floor(atMs / 1000), unit: "seconds" };
}

/** A share of 100. */
export function percent(name: string, value: number): Figure {
  return { name, value, unit: "percent" };
}
