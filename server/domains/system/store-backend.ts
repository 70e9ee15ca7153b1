import { setTimeout as delay } from "node:timers/promises";
import { type Backend, type BackendStatus, createPolledStatus } from "../../backend.ts";
import type { Store } from "../../store/store.ts";

/** How long an answer about the store stands for the next one who asks, and how often a watcher has it asked anew. */
const freshMs = 1000;

/** How long the store may take: PostgreSQL itself is given longer before a connection counts as lost. */
const patienceMs = 2000;

/**
 * The gateway's own store, as ListBackends, `/readyz` and the health service see it.
 * @param services full names of the services that cannot answer without it
 */
export function createStoreBackend(
  store: Pick<Store, "run" | "isShared">,
  kind: "real" | "sandbox",
  services: readonly string[],
): Backend {
  async function ask(): Promise<BackendStatus> {
    const facts = { version: undefined, snapshotAgeMs: undefined };
    const timeout = new AbortController();
    const late = delay(patienceMs, "late" as const, { signal: timeout.signal });
    late.catch(() => undefined);
    try {
      const answer = await Promise.race([store.run("store.check", {}), late]);
      return answer === "late"
        ? { ...facts, health: "unavailable", missing: [`the database has not answered for ${patienceMs} ms`] }
        : { ...facts, health: "ok", missing: [] };
    } catch (error) {
      return {
        ...facts,
        health: "unavailable",
        missing: [error instanceof Error ? error.message : String(error)],
      };
    } finally {
      timeout.abort();
    }
  }

  return {
    domain: "system",
    name: store.isShared ? "postgresql" : "sqlite",
    kind,
    services,
    ...createPolledStatus(ask, freshMs),
  };
}
