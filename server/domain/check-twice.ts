import { InfraError } from "../../adapters/host/infra-error.ts";
import type { Snapshot } from "../../adapters/host/snapshot.ts";

/**
 * Runs a check against a snapshot. If it fails, the system is read again and the check repeated, because the system may have
 * changed without a notification.
 * @param options.finalBelowMs a failure is final if the snapshot is younger than this, so that repeatedly refused calls do not
 * keep the system busy
 * @throws InfraError of the check, and what `refresh` throws
 */
export async function checkTwice<State, Result>(
  snapshot: Snapshot<State>,
  check: (snapshot: Snapshot<State>) => Result | Promise<Result>,
  options: { readonly refresh: () => Promise<Snapshot<State>>; readonly finalBelowMs: number },
): Promise<Result> {
  try {
    // Awaited here, so that a rejection is caught.
    return (await check(snapshot)) as Result;
  } catch (error) {
    if (!(error instanceof InfraError) || performance.now() - snapshot.readAtMs < options.finalBelowMs) {
      throw error;
    }
  }
  return check(await options.refresh());
}
