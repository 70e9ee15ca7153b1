import { type Purge, startPurge } from "../../store/purge.ts";
import type { Store } from "../../store/store.ts";

const dayMs = 86_400_000;
const batchSize = 500;

/** Removes audit events that are older than `keepDays`. */
export function startAuditRetention(
  store: Pick<Store, "run">,
  keepDays: number,
  onFailed: (error: unknown) => void,
): Purge {
  return startPurge(async () => {
    const { count } = await store.run("audit.purge", { keepMs: keepDays * dayMs, limit: batchSize });
    return count === batchSize;
  }, onFailed);
}
