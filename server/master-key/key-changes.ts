import { randomUUID } from "node:crypto";
import { InfraError } from "../../adapters/host/infra-error.ts";
import type { MasterKeys } from "../crypto/master-keys.ts";
import { assertMasterKeys } from "../store/database-facts.ts";
import { storeReasons } from "../store/reasons.ts";
import type { Store } from "../store/store.ts";
import { beginChange, reloadedNewest, unchanged } from "./begin-change.ts";
import { createReencryption } from "./reencryption.ts";
import { type SealedColumn, sealedColumns } from "./sealed-columns.ts";
import type { KeyUse } from "./store/sealed-values.ts";
import type { StoredKeys } from "./store/transactions.ts";

/** The master keys of a store, for people. */
export interface KeyStatus {
  /** Where this gateway's keys come from. */
  readonly source: string;
  /** Fingerprint of the key in use. */
  readonly current: string;
  /** Replaced keys that may still be needed. */
  readonly old: StoredKeys["old"];
  /** The secrets by key and table. */
  readonly uses: readonly KeyUse[];
  /** Secrets that could not be decrypted, and so still need their key. */
  readonly unreadable: readonly KeyUse[];
  /** The other gateways on the store, and whether they still encrypt with a replaced key. */
  readonly gateways: readonly { readonly host: string; readonly isBehind: boolean }[];
}

/** Changes of a store's master key, while any number of gateways use it. */
export interface KeyChanges {
  /** Identifies the store; the same for all its gateways, whatever the key in use. */
  readonly storeId: string;
  /** @throws InfraError STORE_UNAVAILABLE */
  status(): Promise<KeyStatus>;
  /**
   * Puts the newest key of this gateway's key source into use, which it reads again first. From then on new secrets are encrypted
   * with it, and all others are encrypted again in the background.
   * @throws InfraError MASTER_KEY_UNCHANGED, STORE_UNAVAILABLE
   */
  change(): Promise<KeyStatus>;
  /** Encrypts what an interrupted change has left, and looks every hour. */
  begin(): void;
  close(): Promise<void>;
}

export interface KeyChangesOptions {
  readonly store: Pick<Store, "isShared" | "run" | "subscribe">;
  readonly masterKeys: MasterKeys;
  /** Name of this host, for messages of other gateways. */
  readonly host: string;
  /** The database in messages. */
  readonly shownAs: string;
  readonly log: { info(message: string): void; warn(message: string, cause?: unknown): void };
  /** Called when this gateway lacks the key in use, so that the process must exit. */
  readonly onLost: (error: Error) => void;
  readonly columns?: readonly SealedColumn[];
  /** Times, for tests. */
  readonly times?: Partial<KeyTimes>;
}

export interface KeyTimes {
  /** How often a gateway on a shared store reports that it is alive. */
  readonly renewMs: number;
  /** How long it may be silent before it counts as gone. */
  readonly silentMs: number;
  /** How long secrets that were encrypted with the replaced key may be on their way to the store. */
  readonly settleMs: number;
  /** How long a change waits for other gateways to read the key. Longer than a killed one counts as alive. */
  readonly patienceMs: number;
}

const defaultTimes = { renewMs: 5_000, silentMs: 15_000, patienceMs: 25_000 };
/** Longer than a query of PostgreSQL may take; SQLite is in this process. */
const settleMs = { shared: 20_000, own: 1_000 };

/**
 * Puts the store's key into use, and follows changes of it by other gateways.
 * @throws InfraError MASTER_KEY_MISMATCH when the key in use or one that is still needed is missing, STORE_UNAVAILABLE
 */
export async function openKeyChanges(options: KeyChangesOptions): Promise<KeyChanges> {
  const { store, masterKeys, host, shownAs, log, onLost, columns = sealedColumns } = options;
  const times = {
    ...defaultTimes,
    settleMs: settleMs[store.isShared ? "shared" : "own"],
    ...options.times,
  };
  const { silentMs } = times;
  const instanceId = randomUUID();
  let state = await store.run("masterKeys.read", { silentMs });
  assertHeld(state);
  masterKeys.use(state.current);
  /** The only key that secrets on their way to the store are encrypted with. */
  let settledKey = state.current;
  let settling: NodeJS.Timeout | undefined;
  let refreshing: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  function assertHeld({ current, old }: Pick<StoredKeys, "current" | "old">): void {
    const [keyCheck = "", ...otherKeyChecks] = masterKeys.fingerprints;
    const needed = { keyCheck: current, oldKeyChecks: old.map(({ fingerprint }) => fingerprint) };
    assertMasterKeys(needed, { keyCheck, otherKeyChecks, shownAs });
  }

  /** Reports this gateway to the others, and puts the key into use that the store names. */
  async function refreshOnce(wakes: boolean): Promise<StoredKeys> {
    const holder = { instanceId, host, keys: masterKeys.fingerprints, sealsWith: settledKey };
    const found = store.isShared
      ? await store.run("masterKeys.announce", { holder, silentMs, wakes })
      : await store.run("masterKeys.read", { silentMs });
    const before = state;
    state = found;
    for (const { fingerprint } of before.old.filter((each) => !isOld(found, each.fingerprint))) {
      log.info(
        `no secret in the store needs the master key ${fingerprint} any more: remove its line from ${masterKeys.source}, and keep it with the store's earlier backups, which need it`,
      );
    }
    if (found.current !== masterKeys.current.fingerprint) {
      follow(found);
    }
    return found;
  }

  function follow(found: StoredKeys): void {
    if (masterKeys.find(found.current) === undefined) {
      reloadedNewest(masterKeys);
    }
    assertHeld({ ...found, old: [] });
    masterKeys.use(found.current);
    log.info(
      `the master key in use is now ${found.current}; replaced ones are needed until all secrets are encrypted again`,
    );
    clearTimeout(settling);
    settling = setTimeout(() => {
      settledKey = found.current;
      refreshInBackground();
    }, times.settleMs).unref();
  }

  function refresh(wakes = false): Promise<StoredKeys> {
    const next = refreshing.then(() => refreshOnce(wakes));
    refreshing = next.catch(() => {});
    return next;
  }

  function refreshInBackground(): void {
    if (isClosed) {
      return;
    }
    refresh().then(
      () => reencryption.wake(),
      (error: unknown) => {
        if (error instanceof InfraError && error.is(storeReasons.MASTER_KEY_MISMATCH)) {
          onLost(error);
        } else {
          log.warn("the master keys of the store could not be read; retrying", error);
        }
      },
    );
  }

  const reencryption = createReencryption({
    store,
    masterKeys,
    columns,
    log,
    // One gateway works, so that they do not get in each other's way.
    oldKeys: () => (isFirst() ? state.old.map(({ fingerprint }) => fingerprint) : undefined),
    isSettled: () => settledKey === masterKeys.current.fingerprint,
    silentMs,
    onForgotten: refreshInBackground,
  });

  function isFirst(): boolean {
    return !store.isShared || state.holders[0]?.instanceId === instanceId;
  }

  /** Another gateway has a new key, or has changed something. */
  function onKeysChanged(): void {
    try {
      masterKeys.reload();
    } catch (error) {
      log.warn("the master keys could not be read again", error);
    }
    refreshInBackground();
  }

  async function status(): Promise<KeyStatus> {
    const found = await refresh();
    return {
      source: masterKeys.source,
      current: found.current,
      old: found.old,
      uses: await store.run("sealedValues.count", {
        of: columns.map(({ table, column, keyColumns }) => ({ table, column, keyColumns })),
      }),
      unreadable: reencryption
        .unreadable()
        .map(({ fingerprint, table, count }) => ({ fingerprint, table, count })),
      gateways: found.holders
        .filter((each) => each.instanceId !== instanceId)
        .map((each) => ({ host: each.host, isBehind: each.sealsWith !== found.current })),
    };
  }

  if (store.isShared) {
    await refresh();
  }
  for (const { fingerprint } of state.old) {
    log.warn(
      `secrets in the store may still need the replaced master key ${fingerprint}: keep it in ${masterKeys.source} until \`hostplane store key-status\` no longer lists it`,
    );
  }
  const unsubscribe = store.subscribe("keys", onKeysChanged);
  const renewing = store.isShared ? setInterval(refreshInBackground, times.renewMs).unref() : undefined;

  return {
    storeId: state.storeId,
    status,
    async change() {
      const fingerprint = reloadedNewest(masterKeys);
      const { current, old } = await refresh(true);
      if (current === fingerprint && old.length === 0) {
        throw unchanged(
          `${fingerprint}, the last key of ${masterKeys.source}, is already in use: add a new key after it, as \`openssl rand -base64 32\` prints`,
        );
      }
      await beginChange(store, fingerprint, times);
      await refresh();
      reencryption.wake();
      return status();
    },
    begin: () => reencryption.begin(),
    async close() {
      isClosed = true;
      unsubscribe();
      clearInterval(renewing);
      clearTimeout(settling);
      await reencryption.close();
      await refreshing;
      if (store.isShared) {
        // Without it, the others wait until this gateway counts as gone.
        await store.run("masterKeys.leave", { instanceId }).catch(() => {});
      }
    },
  };
}

function isOld({ old }: StoredKeys, fingerprint: string): boolean {
  return old.some((each) => each.fingerprint === fingerprint);
}
