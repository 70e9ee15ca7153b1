import { createHmac } from "node:crypto";
import type { IdempotencyPort } from "../../rpc/interceptors/idempotency.ts";
import { startPurge } from "../../store/purge.ts";
import type { Store } from "../../store/store.ts";
import type { KeyRow } from "./store/transactions.ts";

/** Idempotency keys and their results in the store. */
export interface KeptResults extends IdempotencyPort {
  /** Stops renewing and purging keys. Calls that hold a key may still store their result until the store is closed. */
  close(): Promise<void>;
}

export interface KeptResultsOptions {
  readonly store: Pick<Store, "run" | "subscribe">;
  /** `createSeal(masterKeys, "idempotency")`: results are encrypted, each bound to its row. */
  readonly seal: {
    seal(secret: Uint8Array, context: string): Uint8Array;
    open(sealed: Uint8Array, context: string): Uint8Array;
  };
  /** Key for the HMACs of keys and requests: a password in a request must not be guessable from its hash. */
  readonly hashKey: Uint8Array;
  readonly instanceId: string;
  /** Called with failed background writes. */
  readonly onFailed: (what: string, error: unknown) => void;
  /** How long a gateway may be silent before its calls count as lost; for tests. */
  readonly leaseMs?: number;
}

const keepMs = 24 * 60 * 60 * 1000;
const pollMs = 1000;
const purgeBatch = 500;

/** Stores results of calls with an idempotency key for a day, for all gateways that share the store. */
export function createKeptResults(options: KeptResultsOptions): KeptResults {
  const { store, seal, hashKey, instanceId, onFailed, leaseMs = 10_000 } = options;
  const held = new Map<string, KeyRow>();
  const waiting = new Set<() => void>();
  let changeCount = 0;

  const unsubscribe = store.subscribe("idempotency", () => {
    changeCount++;
    for (const wake of [...waiting]) {
      wake();
    }
  });
  const renewing = setInterval(() => {
    if (held.size > 0) {
      store
        .run("idempotency.renew", { keys: [...held.values()], instanceId, leaseMs })
        .catch((error) => onFailed("the lease renewal of running calls", error));
    }
  }, leaseMs / 3).unref();
  const purge = startPurge(
    async () => (await store.run("idempotency.purge", { limit: purgeBatch })).count === purgeBatch,
    (error) => onFailed("the removal of expired keys", error),
  );

  const hash = (what: string, bytes: Uint8Array | string) =>
    new Uint8Array(createHmac("sha256", hashKey).update(`${what}\0`).update(bytes).digest());

  return {
    async claim({ caller, method, key: clearKey, request }) {
      const key: KeyRow = { caller, method, key_hash: hash("key", clearKey) };
      const context = `${caller}\0${method}\0${Buffer.from(key.key_hash).toString("hex")}`;
      const requestHash = hash("request", request);
      const found = await store.run("idempotency.take", { key, requestHash, instanceId, leaseMs, keepMs });
      if (found.state === "done") {
        return { state: "stored", answer: seal.open(found.result, context) };
      }
      if (found.state === "lost") {
        // On a starved host, the lease of a call that runs here may have expired.
        return { state: held.has(context) ? "running" : "unknown" };
      }
      if (found.state !== "taken") {
        return { state: found.state };
      }
      held.set(context, key);
      return {
        state: "claimed",
        async store(answer) {
          held.delete(context);
          const result = seal.seal(answer, context);
          const { ok } = await store.run("idempotency.keep", { key, instanceId, result });
          if (!ok) {
            throw new Error("the key has meanwhile been claimed by another call");
          }
        },
        async release() {
          held.delete(context);
          await store.run("idempotency.forget", { key, instanceId });
        },
      };
    },
    changeCount: () => changeCount,
    untilChanged: (seen, signal) =>
      new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          waiting.delete(done);
          resolve();
        };
        const timer = setTimeout(done, pollMs);
        signal.addEventListener("abort", done, { once: true });
        waiting.add(done);
        if (signal.aborted || changeCount !== seen) {
          done();
        }
      }),
    onFailed,
    async close() {
      clearInterval(renewing);
      unsubscribe();
      await purge.stop();
    },
  };
}
