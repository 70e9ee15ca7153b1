import { setImmediate as nextTurn } from "node:timers/promises";
import { InfraError } from "../host/infra-error.ts";
import { errorFromSignal, errorFromSource } from "../host/process/tool-errors.ts";
import { hostReasons } from "../host/reasons.ts";
import { untilStopped } from "../host/until-stopped.ts";
import type { Clock } from "../sandbox/clock.ts";
import type { StepFaults } from "../sandbox/step-faults.ts";
import type { BackupSource, TransferOptions } from "./adapter.ts";

/** A command of restic that a fault may end. */
export interface SandboxTransfer {
  readonly kind: "backup" | "restore" | "read" | "verify" | "prune" | "forget";
  /** The tags of a backup. */
  readonly tags?: readonly string[];
}

export interface SandboxTransfersOptions {
  /** Returns the duration of a transfer of this size that moves no data. */
  readonly durationMs: (totalBytes: number) => number;
  readonly clock: Clock;
  /** Consulted repeatedly during a transfer. */
  readonly faults: StepFaults<SandboxTransfer>;
}

/** A transfer reports its progress this often, or ten times if it is short. */
const progressMs = 1_000;
const leastReports = 10;
const zeroes = Buffer.alloc(1 << 20);

/** Creates the long-running commands of a sandbox, which take time, report progress and can be stopped. */
export function createSandboxTransfers({ durationMs, clock, faults }: SandboxTransfersOptions) {
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
      const takenMs = durationMs(totalBytes);
      const reports = Math.max(leastReports, Math.round(takenMs / progressMs));
      for (let done = 1; done <= reports; done += 1) {
        await clock.sleep(takenMs / reports, stop).catch(() => {
          throw errorFromSignal(stop, "restic");
        });
        faults.assertWorks(step);
        const doneBytes = Math.floor((totalBytes * done) / reports);
        transferOptions.onProgress({ doneBytes, totalBytes });
      }
    } finally {
      end();
    }
  }

  /** Takes the configured time for a device, or reads the given source; returns its size. */
  async function store(source: BackupSource, transferOptions: TransferOptions): Promise<number> {
    if ("device" in source) {
      await run({ kind: "backup", tags: source.tags }, source.sizeBytes, transferOptions);
      return source.sizeBytes;
    }
    const { content, sizeBytes, fileName, tags } = source;
    const { stop, end } = begin(transferOptions);
    let doneBytes = 0;
    try {
      for await (const chunk of untilStopped(content, stop, "restic")) {
        faults.assertWorks({ kind: "backup", tags });
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
        if (stop.aborted) {
          throw errorFromSignal(stop, "restic");
        }
        faults.assertWorks({ kind: "read" });
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
