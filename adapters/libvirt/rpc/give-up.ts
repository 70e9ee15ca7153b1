import { InfraError } from "../../host/infra-error.ts";
import { hostReasons } from "../../host/reasons.ts";
import { libvirtRpcReasons } from "./reasons.ts";

export interface Patience {
  readonly signal?: AbortSignal | undefined;
  /** No timeout by default. */
  readonly timeoutMs?: number | undefined;
}

/** Returns the signal's own InfraError if it has one, else CALLER_LEFT. */
export function errorFromSignal({ reason }: AbortSignal): InfraError {
  return reason instanceof InfraError
    ? reason
    : new InfraError(hostReasons.CALLER_LEFT, "The caller left before libvirt answered", { cause: reason });
}

/**
 * Waits for work with a timeout. The signal passed to the work is aborted with the error when the wait is given up; the
 * result of the work is then ignored.
 * @throws what the work throws; errorFromSignal; InfraError LIBVIRT_UNAVAILABLE after the timeout
 */
export function withPatience<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { signal, timeoutMs }: Patience,
): Promise<T> {
  const giveUp = new AbortController();
  const late = () =>
    new InfraError(libvirtRpcReasons.LIBVIRT_UNAVAILABLE, `libvirt did not answer within ${timeoutMs} ms`);
  return new Promise((resolve, reject) => {
    const give = (error: InfraError) => {
      giveUp.abort(error);
      reject(error);
    };
    if (signal?.aborted) {
      give(errorFromSignal(signal));
      return;
    }
    const onAbort = () => signal !== undefined && give(errorFromSignal(signal));
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => give(late()), timeoutMs).unref();
    signal?.addEventListener("abort", onAbort, { once: true });
    work(giveUp.signal)
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      });
  });
}
