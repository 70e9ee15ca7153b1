import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { ReasonName } from "../../../adapters/host/reasons.ts";

/** The reason a promise rejected with; throws whatever else it rejected with. undefined if it resolved. */
export async function reasonOf(promise: Promise<unknown>): Promise<ReasonName | undefined> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    if (error instanceof InfraError) {
      return error.reason;
    }
    throw error;
  }
}

/** The same for a function that throws. */
export function reasonOfCall(work: () => unknown): Promise<ReasonName | undefined> {
  return reasonOf(Promise.resolve().then(work));
}
