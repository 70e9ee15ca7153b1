import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { InfraError } from "../host/infra-error.ts";
import { errorFromSignal, errorFromSource } from "../host/tool-errors.ts";
import { untilStopped } from "../host/until-stopped.ts";
import type { BackupSource, TransferOptions } from "./adapter.ts";

export type SandboxTransfer = "backup" | "restore" | "read" | "verify" | "prune";

export interface SandboxTransfersOptions {
  /** How long one takes that moves nothing. */
  readonly transferMs: number;
  /** Asked again and again meanwhile: the error with which it is to fail. */
  readonly fault: (step: SandboxTransfer) => InfraError | undefined;
}

const progressSteps = 10;
const zeroes = Buffer.alloc(1 << 20);

/** What takes a sandbox its time, tells how far it is, and can be stopped. */
export function createSandboxTransfers({ transferMs, fault }: SandboxTransfersOptions) {
  const closing = new AbortController();
  const transfers = new Set<{ readonly token: string; readonly settling: AbortController }>();

  /** `settle` and `close` stop it from now until its end. */
  function begin({ token, signal }: TransferOptions) {
    const running = { token, settling: new AbortController() };
    transfers.add(running);
    return {
      stop: AbortSignal.any([signal, closing.signal, running.settling.signal]),
      end: () => void transfers.delete(running),
    };
  }

  /** Takes its time, and tells how far it is. */
  async function run(
    step: SandboxTransfer,
    totalBytes: number,
    transferOptions: TransferOptions,
  ): Promise<void> {
    const { stop, end } = begin(transferOptions);
    try {
      for (let done = 1; done <= progressSteps; done += 1) {
        await sleep(transferMs / progressSteps, undefined, { signal: stop }).catch(() => {
          throw errorFromSignal(stop, "restic");
        });
        const failure = fault(step);
        if (failure !== undefined) {
          throw failure;
        }
        const doneBytes = Math.floor((totalBytes * done) / progressSteps);
        transferOptions.onProgress({ doneBytes, totalBytes });
      }
    } finally {
      end();
    }
  }

  /** Takes its time over a device, and reads whatever else it is given; how much there was. */
  async function store(source: BackupSource, transferOptions: TransferOptions): Promise<number> {
    if ("device" in source) {
      await run("backup", source.sizeBytes, transferOptions);
      return source.sizeBytes;
    }
    const { content, sizeBytes, fileName } = source;
    const { stop, end } = begin(transferOptions);
    let doneBytes = 0;
    try {
      for await (const chunk of untilStopped(content, stop, "restic")) {
        const failure = fault("backup");
        if (failure !== undefined) {
          throw failure;
        }
        doneBytes += chunk.length;
        transferOptions.onProgress(
          sizeBytes === undefined ? { doneBytes } : { doneBytes, totalBytes: sizeBytes },
        );
      }
    } catch (cause) {
      throw errorFromSource(cause, "restic");
    } finally {
      end();
    }
    if (sizeBytes !== undefined && doneBytes !== sizeBytes) {
      const words = `of ${fileName} ${doneBytes} bytes could be read instead of ${sizeBytes}`;
      throw new InfraError("TOOL_FAILED", words);
    }
    return doneBytes;
  }

  /** Zeroes, since snapshots hold no data. */
  async function* read(
    totalBytes: number,
    transferOptions: TransferOptions,
  ): AsyncGenerator<Uint8Array, void> {
    const { stop, end } = begin(transferOptions);
    try {
      for (let doneBytes = 0; doneBytes < totalBytes; ) {
        await nextTurn();
        const failure = stop.aborted ? errorFromSignal(stop, "restic") : fault("read");
        if (failure !== undefined) {
          throw failure;
        }
        const piece = zeroes.subarray(0, totalBytes - doneBytes);
        doneBytes += piece.length;
        yield piece;
        transferOptions.onProgress({ doneBytes, totalBytes });
      }
    } finally {
      end();
    }
  }

  return {
    run,
    store,
    read,
    /** Stops those that carry the token. */
    settle(token: string): void {
      for (const transfer of transfers) {
        if (transfer.token === token) {
          transfer.settling.abort(new InfraError("SHUTTING_DOWN", "the gateway that began it is gone"));
        }
      }
    },
    /** Stops all. */
    close: (): void => closing.abort(new InfraError("SHUTTING_DOWN", "The gateway is stopping")),
  };
}
