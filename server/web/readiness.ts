import type { Backend } from "../domain/backend.ts";

/** Whether the gateway accepts requests. Without its store it cannot change anything. */
export type Readiness = "ready" | "stopping" | "storeUnavailable";

/** Reads whether the gateway is ready. @param store the backend of the gateway's own store */
export async function readReadiness(
  shutdownSignal: AbortSignal,
  store: Pick<Backend, "status">,
): Promise<Readiness> {
  const { health } = await store.status();
  if (shutdownSignal.aborted) {
    return "stopping";
  }
  return health === "unavailable" ? "storeUnavailable" : "ready";
}
