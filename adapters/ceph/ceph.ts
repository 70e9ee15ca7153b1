import { trackEffect } from "../host/effect.ts";
import type { CephAdapter } from "./adapter.ts";
import { crashNotFound, operatorMissing } from "./errors.ts";
import { inspectCeph } from "./inspect.ts";
import type { RadosOptions } from "./librados.ts";
import { parseCrashes } from "./parse-crashes.ts";
import { createRadosClient } from "./rados-client.ts";
import { createRefresh } from "./refresh.ts";
import { createStateReader } from "./state.ts";

/** A user of the cluster, as `client.hostplane`, and the file with its key; where the configuration says when undefined. */
export interface CephKey {
  readonly user: string;
  readonly keyringPath?: string | undefined;
}

export interface CephOptions {
  /** Names the monitors; /etc/ceph/ceph.conf when undefined. */
  readonly confPath?: string | undefined;
  /** For reading, with the capabilities of `readerCapabilities`. */
  readonly reader: CephKey;
  /** For what changes anything, with those of `operatorCapabilities`; undefined: nothing is changed. */
  readonly operator?: CephKey | undefined;
  /** How often the state is read while somebody watches, and otherwise; 2,000 and 15,000 unless told. */
  readonly watchedMs?: number;
  readonly idleMs?: number;
  /** For how long what cannot be refreshed is told; 30,000 unless told. */
  readonly keepMs?: number;
  /** How long one answer of the monitors, the manager and the OSDs is awaited; 3,000, 1,500 and 1,500 unless told. */
  readonly patienceMs?: { readonly mon: number; readonly mgr: number; readonly osd: number };
  /** How often what is costly is read; 15,000 and, for scrubs, 60,000 unless told. */
  readonly slowMs?: number;
  readonly scrubsMs?: number;
}

/** After which librados itself gives up a call. */
const radosTimeoutMs = 5_000;

/** A Ceph cluster, read at once and again ever after, through librados in a process of its own. */
export function createCeph(options: CephOptions): CephAdapter {
  const { confPath, reader, operator } = options;
  const { watchedMs = 2_000, idleMs = 15_000, keepMs = 30_000, slowMs = 15_000, scrubsMs = 60_000 } = options;
  const { patienceMs = { mon: 3_000, mgr: 1_500, osd: 1_500 } } = options;
  const asReader = radosOptions(reader);
  const asOperator = operator === undefined ? undefined : radosOptions(operator);
  const client = createRadosClient();
  const refresh = createRefresh({
    system: "ceph",
    load: createStateReader(client, asReader, { patienceMs, slowMs, scrubsMs }),
    watchedMs,
    idleMs,
    keepMs,
  });

  function radosOptions({ user, keyringPath }: CephKey): RadosOptions {
    return { confPath, user, keyringPath, timeoutMs: radosTimeoutMs };
  }

  function requireOperator(): RadosOptions {
    if (asOperator === undefined) {
      throw operatorMissing();
    }
    return asOperator;
  }

  return {
    kind: "real",
    read: refresh.read,
    subscribe: refresh.subscribe,
    assertOperator: () => void requireOperator(),
    async archiveCrash(id) {
      const operator = requireOperator();
      const crashes = parseCrashes(
        await trackEffect(() => client.command("mgr", { prefix: "crash ls" }, operator)),
      );
      if (!crashes.some((crash) => crash.id === id)) {
        throw crashNotFound(id);
      }
      await client.command("mgr", { prefix: "crash archive", id }, operator);
      await refresh.renew();
    },
    inspect: () => inspectCeph({ client, reader: asReader, operator: asOperator }),
    async close() {
      refresh.close();
      client.close();
    },
  };
}
