import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { InfraError } from "../host/infra-error.ts";
import { errorFromSignal, errorFromSource } from "../host/process/tool-errors.ts";
import { hostReasons } from "../host/reasons.ts";
import { untilStopped } from "../host/until-stopped.ts";
import type { BackupSource, TransferOptions } from "./adapter.ts";

export type SandboxTransfer = "backup" | "restore" | "read" | "verify" | "prune";

export interface SandboxTransfersOptions {
  /** Duration of a transfer that moves no data. */
  readonly transferMs: number;
  /** Called repeatedly during a transfer; returns the error with which it fails. */
  readonly fault: (step: SandboxTransfer) => InfraError | undefined;
}

const progressSteps = 10;
const zeroes = Buffer.alloc(1 << 20);

/** Creates the long-running commands of a sandbox, which take time, report progress and can be stopped. */
export function createSandboxTransfers({ transferMs, fault }: SandboxTransfersOptions) {
  const closing = new AbortController();
  const transfers = new Set<{ readonly token: string; readonly settling: AbortController }>();

  /** Registers a transfer, so that `settle` and `close` stop it. */
  function begin({ token, signal }: TransferOptions) {
    const running = { token, settling: new AbortController() };
    transfers.add(running);
    return {
      stop: AbortSignal.any([signal, closing.signal, running.settling.signal]),
      end: () => void transfers.delete(running),
    };
  }

  /** Takes the configured time, and reports progress. */
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

  /** Takes the configured time for a device, or reads the given source; returns its size. */
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
      const words = `${doneBytes} bytes of ${fileName} were read instead of ${sizeBytes}`;
      throw new InfraError(hostReasons.TOOL_FAILED, words);
    }
    return doneBytes;
  }

  /** Yields zeroes, since snapshots hold no data. */
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
    /** Stops the transfers with this token. */
    settle(token: string): void {
      for (const transfer of transfers) {
        if (transfer.token === token) {
          transfer.settling.abort(
            new InfraError(hostReasons.SHUTTING_DOWN, "the gateway that started it has stopped"),
          );
        }
      }
    },
    /** Stops all transfers. */
    close: (): void => closing.abort(new InfraError(hostReasons.SHUTTING_DOWN, "The gateway is stopping")),
  };
}
