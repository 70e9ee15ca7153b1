import { InfraError } from "../../host/infra-error.ts";
import { hostReasons } from "../../host/reasons.ts";
import type { Connection, StreamReceiver } from "./connection.ts";
import { errorFromSignal } from "./give-up.ts";
import { type ArgsOf, procedures } from "./procedures.ts";

/**
 * Transfers of volumes, each on its own connection, which ends with it. Flow control is then left to the socket: a slow
 * reader stops reading, a slow libvirt lets the socket fill, and neither delays calls or events. A transfer is
 * cancelled by closing the connection, at which libvirtd ends its part.
 */

/** Limit of received bytes not yet consumed; beyond it, reading from the socket is paused. */
const maxQueuedBytes = 1 << 20;

/** libvirt's own client sends no larger pieces, and older daemons reject them. */
const maxPieceBytes = 262_120;

/** Guards work that waits for a stream: at most one at a time, which fails when the stream does. */
interface StreamGuard {
  fail(error: InfraError): void;
  /** @throws as the work does, or at once the stream's failure */
  during<T>(work: Promise<T>): Promise<T>;
}

function createStreamGuard(): StreamGuard {
  let failure: InfraError | undefined;
  // A single callback rather than a race with a promise of the failure: each race would add a reaction to it until the
  // end of the transfer.
  let rejectWork: (error: InfraError) => void = () => {};
  return {
    fail(error) {
      failure ??= error;
      rejectWork(failure);
    },
    during: (work) =>
      new Promise((resolve, reject) => {
        rejectWork = reject;
        work.then(resolve, reject);
        if (failure !== undefined) {
          reject(failure);
        }
      }),
  };
}

/** Fails the guard when the signal aborts or the connection ends. The returned function ends the connection. */
function watchSignal(
  guard: StreamGuard,
  connection: Connection,
  signal: AbortSignal | undefined,
): () => void {
  const onAbort = () => signal !== undefined && guard.fail(errorFromSignal(signal));
  if (signal?.aborted) {
    onAbort();
  }
  signal?.addEventListener("abort", onAbort, { once: true });
  return () => {
    signal?.removeEventListener("abort", onAbort);
    connection.end(new InfraError(hostReasons.CALLER_LEFT, "the transfer has ended"));
  };
}

/** Yields the content of a volume, at the reader's pace, with bounded memory. Takes ownership of the connection. */
export async function* download(
  connection: Connection,
  args: ArgsOf<"storageVolDownload">,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const guard = createStreamGuard();
  const leave = watchSignal(guard, connection, signal);
  let queue: Buffer[] = [];
  let queuedBytes = 0;
  /** Number of ends received: of the data, then of the stream. */
  let ends = 0;
  let failure: InfraError | undefined;
  let changed = Promise.withResolvers<void>();

  const receiver: StreamReceiver = {
    onData(bytes) {
      queue.push(bytes);
      queuedBytes += bytes.length;
      if (queuedBytes >= maxQueuedBytes) {
        connection.pause();
      }
      changed.resolve();
    },
    onEnd() {
      ends += 1;
      changed.resolve();
    },
    // Not thrown at once: data received earlier is delivered first.
    onError(error) {
      failure = error;
      changed.resolve();
    },
  };

  async function untilEnds(count: number): Promise<void> {
    while (ends < count && queue.length === 0) {
      if (failure !== undefined) {
        throw failure;
      }
      changed = Promise.withResolvers();
      await guard.during(changed.promise);
    }
  }

  try {
    const channel = await guard.during(connection.openStream(procedures.storageVolDownload, args, receiver));
    for (;;) {
      await untilEnds(1);
      if (queue.length === 0) {
        break;
      }
      const pieces = queue;
      queue = [];
      queuedBytes = 0;
      yield* pieces;
      connection.resume();
    }
    // Only the reply to this shows whether libvirt's own source failed at the end.
    channel.finish();
    await untilEnds(2);
  } finally {
    leave();
  }
}

/** Writes a volume at libvirt's pace; resolves when libvirt has written it. Takes ownership of the connection. */
export async function upload(
  connection: Connection,
  args: ArgsOf<"storageVolUpload">,
  source: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<void> {
  const guard = createStreamGuard();
  const leave = watchSignal(guard, connection, signal);
  const confirmed = Promise.withResolvers<void>();
  const iterator = source[Symbol.asyncIterator]();
  let hasMore = true;
  try {
    const receiver: StreamReceiver = {
      onData: () => guard.fail(new InfraError(hostReasons.TOOL_OUTPUT, "libvirt sent data into an upload")),
      onEnd: confirmed.resolve,
      onError: guard.fail,
    };
    const channel = await guard.during(connection.openStream(procedures.storageVolUpload, args, receiver));
    for (;;) {
      const next = await guard.during(iterator.next());
      if (next.done) {
        hasMore = false;
        break;
      }
      for (let at = 0; at < next.value.length; at += maxPieceBytes) {
        await guard.during(channel.send(next.value.subarray(at, at + maxPieceBytes)));
      }
    }
    channel.finish();
    await guard.during(confirmed.promise);
  } finally {
    leave();
    if (hasMore) {
      // Not awaited: a source blocked in its own read would delay the report of the failure.
      iterator.return?.().catch(() => {});
    }
  }
}
