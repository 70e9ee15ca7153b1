import { createLimiter, type Limiter } from "../../../../adapters/host/limiter.ts";
import { createSnapshotCache } from "../../../../adapters/host/snapshot.ts";
import type { MaasMachine } from "../../../../adapters/maas/machine.ts";
import { readAccount } from "./read-account.ts";
import type { ReconcilerOptions } from "./reconciler-options.ts";
import { createWorkloadConnections, type WorkloadConnections } from "./workload-connections.ts";

/** What the passes of a gateway share. */
export interface ReconcileTools extends ReconcilerOptions {
  readonly connections: WorkloadConnections;
  /** Has one slot after the other choose a machine, so that they choose different ones. */
  readonly choices: Limiter;
  /**
   * Until when MAAS is not asked again for a free machine (performance.now()), by what it must be like: of hundreds that are missing each
   * would ask by itself.
   */
  readonly noneUntilMs: Map<string, number>;
  /** Addresses that MAAS was seen to keep for a cluster, as `uid address`. */
  readonly keptEndpoints: Set<string>;
  /**
   * Has changes of machines wait here and not in the adapter, so that none waits between its last checks and its sending: fewer at once
   * than the adapter lets through.
   */
  readonly changes: Limiter;
  /** The account of the gateway's MAAS API key. @throws InfraError as `readAccount` */
  account(): Promise<string>;
  /** MAAS does not know the account, or does not let it in: it may be another by now. */
  forgetAccount(): void;
  /** What marks machines as those of this store. @throws InfraError as the store does */
  installationId(): Promise<string>;
  /**
   * The account's machines by system_id, for all who ask meanwhile at once. MAAS takes long to list many.
   * @param maxAgeMs 0: read after this call began
   * @throws InfraError as MAAS does
   */
  machines(maxAgeMs: number): Promise<ReadonlyMap<string, MaasMachine>>;
}

const maxWaiting = Number.MAX_SAFE_INTEGER;
const changesAtOnce = 6;

export function createReconcileTools(options: ReconcilerOptions): ReconcileTools {
  const { store, maas, workload } = options;
  let account: Promise<string> | undefined;
  let installationId: string | undefined;

  function accountNow(): Promise<string> {
    if (account === undefined) {
      const asked = readAccount(maas, store);
      account = asked;
      asked.catch(() => {
        account = account === asked ? undefined : account;
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
