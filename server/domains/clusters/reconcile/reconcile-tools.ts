import { createLimiter, type Limiter } from "../../../../adapters/host/limiter.ts";
import { createSnapshotCache } from "../../../../adapters/host/snapshot.ts";
import type { MaasMachine } from "../../../../adapters/maas/machine.ts";
import { createWorkloadConnections, type WorkloadConnections } from "./nodes/workload-connections.ts";
import { readAccount } from "./read-account.ts";
import type { ReconcilerOptions } from "./reconciler-options.ts";

/** Resources shared by all passes of a gateway. */
export interface ReconcileTools extends ReconcilerOptions {
  readonly connections: WorkloadConnections;
  /** Lets slots choose machines one at a time, so that they choose different ones. */
  readonly choices: Limiter;
  /**
   * Times (performance.now()) until which MAAS is not searched again for a free machine, by constraints: with hundreds of
   * missing machines each would search on its own.
   */
  readonly noneUntilMs: Map<string, number>;
  /** Addresses known to be reserved in MAAS for a cluster, as `uid address`. */
  readonly keptEndpoints: Set<string>;
  /**
   * Makes machine changes wait here instead of in the adapter, so that none waits between its last check and its request. Its
   * limit is lower than the adapter's.
   */
  readonly changes: Limiter;
  /** Returns the account of the gateway's MAAS API key. @throws InfraError as `readAccount` */
  account(): Promise<string>;
  /** Discards the cached account after MAAS has rejected it, since it may have changed. */
  forgetAccount(): void;
  /** Returns the id that marks machines as belonging to this store. @throws InfraError as the store does */
  installationId(): Promise<string>;
  /**
   * Returns the account's machines by system_id; concurrent calls share one read. MAAS takes long to list many machines.
   * @param maxAgeMs 0 to require a read that started after this call
   * @throws InfraError as MAAS does
   */
  machines(maxAgeMs: number): Promise<ReadonlyMap<string, MaasMachine>>;
}

const maxWaiting = Number.MAX_SAFE_INTEGER;
const changesAtOnce = 6;

/** Creates them without reading anything from MAAS or the store. */
export function createReconcileTools(options: ReconcilerOptions): ReconcileTools {
  const { store, maas, workload } = options;
  let account: Promise<string> | undefined;
  let installationId: string | undefined;

  function accountNow(): Promise<string> {
    if (account === undefined) {
      const pending = readAccount(maas, store);
      account = pending;
      pending.catch(() => {
        account = account === pending ? undefined : account;
      });
    }
    return account;
  }

  const machines = createSnapshotCache({
    system: "maas",
    load: async (signal) => {
      const list = await maas.machines({ owner: await accountNow() }, signal);
      return new Map(list.map((machine) => [machine.systemId, machine]));
    },
    equal: () => false,
  });

  let readAtMs = Number.NEGATIVE_INFINITY;

  return {
    ...options,
    connections: createWorkloadConnections(workload),
    noneUntilMs: new Map(),
    keptEndpoints: new Set(),
    choices: createLimiter({ what: "choices of a machine", maxRunning: 1, maxWaiting }),
    changes: createLimiter({ what: "changes of machines", maxRunning: changesAtOnce, maxWaiting }),
    account: accountNow,
    forgetAccount() {
      account = undefined;
    },
    async installationId() {
      installationId ??= (await store.run("clusters.installation", {})).installationId;
      return installationId;
    },
    async machines(maxAgeMs) {
      if (performance.now() - readAtMs > maxAgeMs) {
        machines.invalidate();
      }
      const { value, readAtMs: atMs } = await machines.read();
      readAtMs = atMs;
      return value;
    },
  };
}
