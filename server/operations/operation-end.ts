import type { Store } from "../store/store.ts";
import { type OperationEnd, operationEndChannel } from "./observation.ts";
import { hasEnded, type Operation } from "./operation.ts";
import type { OperationsLog } from "./operations-options.ts";

/** Logs and publishes the end of an operation that this gateway has ended. Does nothing when the store does not answer. */
export async function reportEnd(store: Pick<Store, "run">, log: OperationsLog, id: string): Promise<void> {
  const found = await store.run("operations.get", { id }).catch(() => undefined);
  if (found !== undefined) {
    publishEnd(log, found.operation);
  }
}

/** Logs and publishes the end of an operation that was already read; does nothing when it has not ended. */
export function publishEnd(log: OperationsLog, operation: Operation): void {
  if (!hasEnded(operation)) {
    return;
  }
  const { id, kind, resource, state, failure, attention, startedAtMs, endedAtMs } = operation;
  const durationMs = (endedAtMs ?? 0) - (startedAtMs ?? endedAtMs ?? 0);
  operationEndChannel.publish({ kind, state, durationMs } satisfies OperationEnd);
  const words = `operation ${id} (${kind} of ${resource})`;
  const why = failure === undefined ? "" : `: ${failure.reason}: ${failure.message}`;
  if (state === "needsAttention") {
    log.warn(`${words} needs attention${why}; ${attention?.left.join(" ") ?? ""}`);
  } else if (state === "failed") {
    log.warn(`${words} failed${why}`);
  } else {
    log.info(`${words} ${state}`);
  }
}
