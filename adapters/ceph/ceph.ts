import { trackEffect } from "../host/effect.ts";
import type { CephAdapter } from "./adapter.ts";
import { crashNotFound, operatorMissing } from "./errors.ts";
import { inspectCeph } from "./inspect.ts";
import type { RadosOptions } from "./librados.ts";
import { parseCrashes } from "./parse/parse-crashes.ts";
import { createRadosClient } from "./rados-client.ts";
import { createRefresh } from "./refresh.ts";
import { createStateReader } from "./state.ts";

/** A Ceph user, e.g. `client.hostplane`, and its keyring; if undefined, the keyring from ceph.conf. */
export interface CephKey {
  readonly user: string;
  readonly keyringPath?: string | undefined;
}

export interface CephOptions {
  /** The configuration file with the monitors; /etc/ceph/ceph.conf if undefined. */
  readonly confPath?: string | undefined;
  /** User for reading, with `readerCapabilities`. */
  readonly reader: CephKey;
  /** User for changes, with `operatorCapabilities`; if undefined, changes are refused. */
  readonly operator?: CephKey | undefined;
  /** Refresh intervals, with and without a watching reader; 2,000 and 15,000 by default. */
  readonly watchedMs?: number;
  readonly idleMs?: number;
  /** Time during which a state that cannot be refreshed is still returned; 30,000 by default. */
  readonly keepMs?: number;
  /** Timeouts of one reply from the monitors, the manager and the OSDs; 3,000, 1,500 and 1,500 by default. */
  readonly patienceMs?: { readonly mon: number; readonly mgr: number; readonly osd: number };
  /** Intervals of reading expensive parts; 15,000 and, for scrubs, 60,000 by default. */
  readonly slowMs?: number;
  readonly scrubsMs?: number;
}

/** Timeout of librados itself. */
const radosTimeoutMs = 5_000;

/**
 * Creates the adapter for a Ceph cluster. It starts reading at once and refreshes periodically, through librados in a
 * separate process.
 */
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
