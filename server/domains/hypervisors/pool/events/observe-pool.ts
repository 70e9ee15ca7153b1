import { z } from "zod";
import {
  observeSystem,
  type SystemObserver,
  type SystemObserverOptions,
} from "../../../../events/observe-system.ts";
import type { CauseOf, ObservedChanges, ObservedSystem } from "../../../../events/observed-system.ts";
import type { NewEvent } from "../../../../events/store/events.ts";
import type { PoolState, StoragePool } from "../storage-pool.ts";
import type { OwnChange, OwnChanges } from "./own-changes.ts";

export interface PoolObserverOptions extends SystemObserverOptions {
  readonly pool: StoragePool;
  readonly changes: Pick<OwnChanges, "find" | "forget">;
  readonly host: string;
}

const observedPool = z.object({
  identity: z.string(),
  sizeBytes: z.string().regex(/^\d{1,20}$/),
  devices: z.array(z.string()),
});

/** The part of the pool's state that events cover, as JSON. */
type ObservedPool = Readonly<z.infer<typeof observedPool>>;

type Effect = OwnChange["effect"];

/** Services that already expose the pool: their callers may receive these events. */
const services = ["operations.v1.OperationsService", "hostplane.v1.StoragePoolService"];

/** Maximum age of the spares' facts, which events do not cover. */
const maxAgeMs = 60_000;

/** Publishes changes of the pool's size and devices as events, whatever caused them. */
export function observePoolChanges(options: PoolObserverOptions): SystemObserver {
  const { pool, changes, host } = options;
  const system: ObservedSystem<PoolState, ObservedPool, readonly Effect[], OwnChange> = {
    source: `${pool.backendKind === "sandbox" ? "sandbox-" : ""}storagePool/${host}`,
    name: "the storage pool",
    subscribe: pool.subscribe,
    read: (sinceMs, signal) => pool.read(signal, Math.max(sinceMs, performance.now() - maxAgeMs)),
    parse: (json) => observedPool.safeParse(json).data,
    changes: (before, state, causeOf) => observedPoolChanges(before, state, { host, ownChangeOf: causeOf }),
    gapOrigin: { topic: "hypervisors", resource: "storagePool", host, services },
    own: changes,
  };
  return observeSystem(system, options);
}

/** Returns the event for a change of the pool; none for a pool that is seen for the first time or was replaced. */
export function observedPoolChanges(
  before: ObservedPool | undefined,
  state: PoolState,
  origin: {
    readonly host: string;
    /** Returns the gateway's own change with one of these effects, if there is one. */
    readonly ownChangeOf: CauseOf<readonly Effect[], OwnChange>;
  },
): ObservedChanges<ObservedPool> {
  const { name, identity } = state;
  const devices = state.devices.map(({ path }) => path);
  const observed = { identity, sizeBytes: String(state.sizeBytes), devices };
  if (before === undefined || before.identity !== identity) {
    return { observed, events: [] };
  }
  const added = devices.filter((path) => !before.devices.includes(path));
  const removed = before.devices.filter((path) => !devices.includes(path));
  const growthBytes = state.sizeBytes - BigInt(before.sizeBytes);
  const effects: readonly Effect[] = [
    ...(added.length > 0 || growthBytes > 0n ? (["grows"] as const) : []),
    ...(removed.length > 0 || growthBytes < 0n ? (["shrinks"] as const) : []),
  ];
  if (effects.length === 0) {
    return { observed, events: [] };
  }
  const { host, ownChangeOf } = origin;
  const event: NewEvent = {
    topic: "hypervisors",
    type: "storagePool.changed",
    resource: "storagePool",
    host,
    operationId: ownChangeOf(effects)?.operationId,
    services,
    // The JSON of a hostplane.v1.Event with only its detail set.
    payload: {
      storagePool: {
        name,
        sizeBytes: observed.sizeBytes,
        previousSizeBytes: before.sizeBytes,
        added,
        removed,
      },
    },
  };
  return { observed, events: [event] };
}
