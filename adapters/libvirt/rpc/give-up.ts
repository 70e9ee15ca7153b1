import { InfraError } from "../../host/infra-error.ts";

export interface Patience {
  readonly signal?: AbortSignal | undefined;
  /** For ever unless told. */
  readonly timeoutMs?: number | undefined;
}

/** The signal's own InfraError if it has one, else CALLER_LEFT. */
export function errorFromSignal({ reason }: AbortSignal): InfraError {
  return reason instanceof InfraError
    ? reason
    : new InfraError("CALLER_LEFT", "The caller left before libvirt had answered", { cause: reason });
}

/**
 * Waits for work only so long. The work gets a signal that is aborted with the error when nobody waits any more; how it ends
 * then is told to nobody.
 * @throws what the work throws; errorFromSignal; InfraError LIBVIRT_UNAVAILABLE after the time
 */
export function withPatience<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { signal, timeoutMs }: Patience,
): Promise<T> {
  const giveUp = new AbortController();
  const late = () => new InfraError("LIBVIRT_UNAVAILABLE", `libvirt has not answered in ${timeoutMs} ms`);
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
