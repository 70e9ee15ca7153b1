import { z } from "zod";
import {
  type ObservedSystem,
  observeSystem,
  type SystemObserver,
  type SystemObserverOptions,
  type Told,
} from "../../../events/observe-system.ts";
import type { NewEvent } from "../../../store/events.ts";
import type { OwnChange, OwnChanges } from "./own-changes.ts";
import type { PoolState, StoragePool } from "./storage-pool.ts";

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

/** What of the pool is told by events, as JSON. */
type ObservedPool = Readonly<z.infer<typeof observedPool>>;

/** Who may call one of these learns of the pool by it already. */
const services = ["operations.v1.OperationsService", "hostplane.v1.StoragePoolService"];

/** So old the facts of spares, of which nothing is told, may be. */
const maxAgeMs = 60_000;

/** Tells each change of the pool's size and devices as an event, whoever makes it. */
export function observePoolChanges(options: PoolObserverOptions): SystemObserver {
  const { pool, changes, host } = options;
  const system: ObservedSystem<PoolState, ObservedPool> = {
    source: `${pool.backendKind === "sandbox" ? "sandbox-" : ""}storagePool/${host}`,
    name: "the storage pool",
    subscribe: pool.subscribe,
    read: (sinceMs, signal) => pool.read(signal, Math.max(sinceMs, performance.now() - maxAgeMs)),
    parse: (json) => observedPool.safeParse(json).data,
    tell: (before, state, readAtMs) =>
      tellPool(before, state, {
        host,
        ownChangeOf: (effects) => changes.find(({ effect }) => effects.includes(effect), readAtMs),
      }),
    gapOrigin: { topic: "hypervisors", resource: "storagePool", host, services },
    onTold: changes.forget,
  };
  return observeSystem(system, options);
}

/** Of a pool that is seen for the first time, or is another one, nothing is told. */
export function tellPool(
  before: ObservedPool | undefined,
  state: PoolState,
  origin: {
    readonly host: string;
    /** The gateway's own change with one of these effects. */
    readonly ownChangeOf: (effects: readonly OwnChange["effect"][]) => OwnChange | undefined;
  },
): Told<ObservedPool> {
  const { name, identity } = state;
  const devices = state.devices.map(({ path }) => path);
  const observed = { identity, sizeBytes: String(state.sizeBytes), devices };
  if (before === undefined || before.identity !== identity) {
    return { observed, events: [] };
  }
  const added = devices.filter((path) => !before.devices.includes(path));
  const removed = before.devices.filter((path) => !devices.includes(path));
  const growthBytes = state.sizeBytes - BigInt(before.sizeBytes);
  const effects: readonly OwnChange["effect"][] = [
    ...(added.length > 0 || growthBytes > 0n ? (["grows"] as const) : []),
    ...(removed.length > 0 || growthBytes < 0n ? (["shrinks"] as const) : []),
  ];
  if (effects.length === 0) {
    return { observed, events: [] };
  }
  const { host, ownChangeOf } = origin;
  const operationId = ownChangeOf(effects)?.operationId;
  const event: NewEvent = {
    topic: "hypervisors",
    type: "storagePool.changed",
    resource: "storagePool",
    host,
    ...(operationId === undefined ? {} : { operationId }),
    services,
    // The JSON of hostplane.v1.Event with its detail alone.
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
