import { InfraError } from "../../../adapters/host/infra-error.ts";

/** Returns the reason of a promise's InfraError; undefined if it resolved. Rethrows any other error. */
export async function reasonOf(promise: Promise<unknown>): Promise<string | undefined> {
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

/** Does the same for a function that throws. */
export function reasonOfCall(work: () => unknown): Promise<string | undefined> {
  return reasonOf(Promise.resolve().then(work));
}
