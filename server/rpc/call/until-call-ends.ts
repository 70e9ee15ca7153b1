import { InfraError } from "../../../adapters/host/infra-error.ts";
import { rpcReasons } from "../reasons.ts";
import type { Call } from "./call.ts";

/**
 * Waits for a request's one message, or for a unary handler, but no longer than the call lasts. Work that the handler has begun
 * continues: a handler stops reads on `call.signal`, and never stops a mutation.
 * @param asLeft converts the error that ended the call to the error for the caller; default: unchanged
 * @throws InfraError the error that ended the call: DEADLINE, CALLER_LEFT, SHUTTING_DOWN
 */
export function untilCallEnds<T>(
  call: Pick<Call, "onEnd">,
  work: Promise<T>,
  asLeft = (error: InfraError) => error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopListening = call.onEnd((error) => reject(asLeft(error)));
    // Work that never ends must not keep the listener of a call that has ended.
    work.then(
      (result) => {
        stopListening();
        resolve(result);
      },
      (error) => {
        stopListening();
        reject(error);
      },
    );
  });
}

/** Creates the error that ends a call at its deadline. */
export function deadlinePassed(): InfraError {
  return new InfraError(rpcReasons.DEADLINE, "the deadline of the call has passed");
}

/**
 * Yields the messages of a stream until the call ends. When the caller leaves, the deadline passes or the gateway stops, even a
 * silent stream ends at once with that reason, and its source is closed.
 * @param repeatAfterMs repeats the last message after this much silence; undefined means never
 */
export async function* streamUntilCallEnds(
  call: Pick<Call, "onEnd">,
  messages: AsyncIterable<object>,
  repeatAfterMs: number | undefined,
): AsyncGenerator<object, void> {
  const source = messages[Symbol.asyncIterator]();
  let arrived: IteratorResult<object> | undefined;
  let failure: { readonly error: unknown } | undefined;
  let wake = () => {};
  // One handler per message, and none that outlives it: Promise.race against the signal would add one to the signal's promise for
  // every message, and a stream may live for months.
  const pull = () => {
    source.next().then(
      (result) => {
        arrived = result;
        wake();
      },
      (error: unknown) => {
        failure ??= { error };
        wake();
      },
    );
  };
  const stopListening = call.onEnd((error) => {
    failure ??= { error };
    wake();
  });
  try {
    let last: object | undefined;
    pull();
    for (;;) {
      if (arrived === undefined && failure === undefined) {
        const silenceMs = last === undefined ? undefined : repeatAfterMs;
        await wokenOrSilence(silenceMs, (resolve) => {
          wake = resolve;
        });
      }
      if (failure !== undefined) {
        throw failure.error;
      }
      if (arrived === undefined) {
        yield last as object;
        continue;
      }
      if (arrived.done === true) {
        return;
      }
      last = arrived.value;
      arrived = undefined;
      yield last;
      pull();
    }
  } finally {
    stopListening();
    // Not awaited: a generator that waits for something that never happens would keep the call open.
    source.return?.()?.catch(() => {});
  }
}

function wokenOrSilence(silenceMs: number | undefined, onWake: (resolve: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = silenceMs === undefined ? undefined : setTimeout(resolve, silenceMs);
    onWake(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
