import type { Store } from "../store/store.ts";
import { type OperationEnd, operationEndChannel } from "./observation.ts";
import { hasEnded, type Operation } from "./operation.ts";

/**
 * Tells the observers that an operation has ended by this gateway's doing. Reads it where there are some, and tells nothing
 * when the store does not answer.
 */
export async function tellEnd(store: Pick<Store, "run">, id: string): Promise<void> {
  if (operationEndChannel.hasSubscribers) {
    const found = await store.run("operations.get", { id }).catch(() => undefined);
    if (found !== undefined) {
      publishEnd(found.operation);
    }
  }
}

/** The same of an operation that was read already; nothing when it has not ended. */
export function publishEnd(operation: Operation): void {
  const { kind, state, startedAtMs, endedAtMs } = operation;
  if (hasEnded(operation)) {
    const durationMs = (endedAtMs ?? 0) - (startedAtMs ?? endedAtMs ?? 0);
    operationEndChannel.publish({ kind, state, durationMs } satisfies OperationEnd);
  }
}
