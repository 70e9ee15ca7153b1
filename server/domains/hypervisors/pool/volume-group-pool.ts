import { createSnapshotCache } from "../../../../adapters/host/snapshot.ts";
import type { LvmAdapter, LvmState } from "../../../../adapters/lvm/adapter.ts";
import { createShownCommand } from "../../../lvm/shown-command.ts";
import { type GroupFacts, planGroupGrowth, planGroupShrinkage } from "./plan-volume-group.ts";
import type { PoolState, StoragePool } from "./storage-pool.ts";
import { createVolumeGroupChanges } from "./volume-group-changes.ts";
import { type GroupRead, poolStateFrom, sparesFrom } from "./volume-group-state.ts";

export interface VolumeGroupPoolOptions {
  readonly lvm: LvmAdapter;
  readonly volumeGroup: string;
  /** Paths of the devices that may be added and removed, in order. */
  readonly devices: readonly string[];
  /** Whether LVM can move data on this host, which requires device-mapper. */
  readonly canMove: boolean;
  /** Maximum age of the spares' facts; 2 s by default. */
  readonly maxAgeMs?: number;
  /** Interval at which spares are read while there are subscribers, since changes are not announced; 30 s by default. */
  readonly pollEveryMs?: number;
}

/** Creates a pool from a volume group and the configured devices that may be added to it. */
export function createVolumeGroupPool(options: VolumeGroupPoolOptions): StoragePool {
  const { lvm, volumeGroup, devices, canMove, maxAgeMs = 2_000, pollEveryMs = 30_000 } = options;
  const shown = createShownCommand(lvm);
  const cache = createSnapshotCache<PoolState>({
    system: "storagePool",
    async load(signal) {
      const { value, revision } = await lvm.read(signal);
      loadedRevision = revision;
      loadedAtMs = performance.now();
      return poolStateFrom(await groupRead(value));
    },
  });
  /** Revision of the LVM state that the cached pool is based on, and the time of the load. */
  let loadedRevision: number | undefined;
  let loadedAtMs = Number.NEGATIVE_INFINITY;
  let watchers = 0;
  let stopWatching = () => {};

  function watch(): void {
    const unsubscribe = lvm.subscribe(() => cache.invalidate());
    const timer = setInterval(() => cache.invalidate(), pollEveryMs).unref();
    stopWatching = () => {
      unsubscribe();
      clearInterval(timer);
    };
  }

  async function groupRead(state: LvmState): Promise<GroupRead> {
    return { state, name: volumeGroup, devices: await lvm.devices(devices), shown };
  }

  async function groupFacts(signal: AbortSignal | undefined): Promise<GroupFacts> {
    const { value: state } = await lvm.refresh(signal);
    return { ...(await groupRead(state)), commandOf: lvm.commandOf };
  }

  return {
    name: volumeGroup,
    kind: "volumeGroup",
    backendKind: lvm.kind,
    shown,
    async read(signal, sinceMs = performance.now() - maxAgeMs) {
      const { revision } = await lvm.read(signal);
      if (revision !== loadedRevision || loadedAtMs < sinceMs) {
        cache.invalidate();
      }
      return cache.read(signal);
    },
    async readSpares(signal) {
      const { value } = await lvm.read(signal);
      return sparesFrom(await groupRead(value));
    },
    subscribe(onChange) {
      const unsubscribe = cache.subscribe(onChange);
      watchers += 1;
      if (watchers === 1) {
        watch();
      }
      return () => {
        unsubscribe();
        watchers -= 1;
        if (watchers === 0) {
          stopWatching();
        }
      };
    },
    planExpand: async (minBytes, signal) => planGroupGrowth(await groupFacts(signal), minBytes),
    planShrink: async (maxBytes, signal) => planGroupShrinkage(await groupFacts(signal), maxBytes, canMove),
    ...createVolumeGroupChanges({ lvm, volumeGroup, devices }),
  };
}
