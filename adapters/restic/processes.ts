import { basename } from "node:path";
import { hasReason, InfraError } from "../host/infra-error.ts";
import { createLimiter } from "../host/limiter.ts";
import { markOf } from "../host/process/marked-processes.ts";
import { run } from "../host/process/run.ts";
import type { ReadRunOptions } from "../host/process/run-options.ts";
import type { ToolEnd } from "../host/process/tool-result.ts";
import { hostReasons } from "../host/reasons.ts";
import type { Repository, TransferOptions } from "./adapter.ts";
import { environmentOfRepository, type ResticCommandOptions, resticCommand } from "./commands.ts";
import { errorFromFailure } from "./errors.ts";
import { resticReasons } from "./reasons.ts";
import { createRetryWatch } from "./retry-watch.ts";
import { createRedact } from "./secrets.ts";

export interface ResticProcessOptions extends ResticCommandOptions {
  /** Called after each tool has exited, for logs and metrics. */
  readonly onToolEnd?: ((end: ToolEnd) => void) | undefined;
  /** Time after which a short command is stopped; 60,000 by default. */
  readonly answerTimeoutMs?: number;
  /** Maximum time that a transfer may keep retrying without progress; 40,000 by default. */
  readonly patienceMs?: number;
  /** Maximum time that a transfer may move no data without an error; 600,000 by default. */
  readonly stallMs?: number;
  /** Polling interval of a transfer's progress; 1,000 by default. */
  readonly progressMs?: number;
}

/** Data and destination of a transfer. */
export interface TransferData {
  readonly input?: ReadRunOptions["input"];
  readonly output?: ReadRunOptions["output"];
  /** Undefined if unknown. */
  readonly totalBytes: number | undefined;
  /** Read everything from the repository itself, nothing from the cache. */
  readonly isUncached?: boolean;
  /** Number of bytes moved so far. */
  readonly position: () => Promise<number>;
}

/** Result of a run of restic, whatever its exit code. */
export interface ResticResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  /** Converts a failure to an error, with restic's message without secrets. */
  readonly failure: () => InfraError;
}

/** Starts restic. A result may have any exit code; no secret reaches an error or an observer. */
export interface ResticProcesses {
  /** Runs a short command. @throws InfraError REPOSITORY_UNREACHABLE when it takes too long, and as `run` */
  query(
    repository: Repository,
    subcommand: string,
    args: readonly string[],
    options: { readonly signal: AbortSignal; readonly token?: string },
  ): Promise<ResticResult>;
  /** Runs a long command. @throws InfraError REPOSITORY_UNREACHABLE when it makes no progress, and as `run` */
  transfer(
    repository: Repository,
    subcommand: string,
    args: readonly string[],
    options: TransferOptions,
    data?: TransferData,
  ): Promise<ResticResult>;
  /** Stops all processes, and resolves once they are gone. */
  close(): Promise<void>;
}

interface StartOptions extends Partial<ReadRunOptions> {
  readonly token?: string | undefined;
  readonly isUncached?: boolean;
}

/** Creates the runner of this machine's restic. At most four short commands run at once. */
export function createResticProcesses(options: ResticProcessOptions): ResticProcesses {
  const { answerTimeoutMs = 60_000, patienceMs = 40_000, stallMs = 600_000, progressMs = 1_000 } = options;
  const { onToolEnd, command = ["restic"] } = options;
  const closing = new AbortController();
  const questions = createLimiter({ what: "restic commands", maxRunning: 4, maxWaiting: 256 });
  // Callers limit how many transfers run at once.
  const transfers = createLimiter({ what: "restic transfers", maxRunning: 1_000, maxWaiting: 0 });

  async function start(
    repository: Repository,
    subcommand: string,
    args: readonly string[],
    { token, signal, isUncached = false, ...more }: StartOptions,
  ): Promise<ResticResult> {
    const redact = createRedact(repository);
    const cache = isUncached ? { cacheDir: undefined } : {};
    const result = await run(resticCommand({ ...options, ...cache }, repository, subcommand, args), {
      ...more,
      kind: "read",
      env: { ...environmentOfRepository(repository), ...(token === undefined ? {} : markOf(token)) },
      signal: AbortSignal.any([closing.signal, ...(signal === undefined ? [] : [signal])]),
      // The only signal on which restic 0.14 removes its lock: "signal interrupt received, cleaning up".
      stopSignal: "SIGINT",
      tool: { program: basename(command.at(-1) ?? ""), subcommand },
      redact,
      onToolEnd,
    });
    const { exitCode, stdout } = result;
    return { exitCode, stdout, failure: () => errorFromFailure(result, redact) };
  }

  return {
    query(repository, subcommand, args, { signal, token }) {
      return questions.run(async () => {
        try {
          return await start(repository, subcommand, args, { signal, token, timeoutMs: answerTimeoutMs });
        } catch (error) {
          if (hasReason(error, hostReasons.TOOL_TIMEOUT)) {
            const words = `restic ${subcommand} got no answer from the repository within ${answerTimeoutMs} ms`;
            throw new InfraError(resticReasons.REPOSITORY_UNREACHABLE, words);
          }
          throw error;
        }
      }, signal);
    },
    transfer(repository, subcommand, args, { signal, token, onProgress }, data) {
      return transfers.run(async () => {
        const stop = new AbortController();
        const retries = createRetryWatch(patienceMs, createRedact(repository), (error) => stop.abort(error));
        const { input, output, totalBytes, isUncached = false, position = async () => 0 } = data ?? {};
        let doneBytes = 0;
        let movedAtMs = performance.now();

        async function poll(): Promise<void> {
          const nowBytes = await position();
          if (nowBytes !== doneBytes) {
            doneBytes = nowBytes;
            movedAtMs = performance.now();
            retries.moved();
            onProgress(
              totalBytes === undefined
                ? { doneBytes }
                : { doneBytes: Math.min(doneBytes, totalBytes), totalBytes },
            );
          } else if (data !== undefined && performance.now() - movedAtMs > stallMs) {
            const words = `restic ${subcommand} has made no progress for ${stallMs} ms`;
            stop.abort(new InfraError(resticReasons.REPOSITORY_UNREACHABLE, words));
          }
        }

        const timer = setInterval(() => void poll().catch(() => {}), progressMs);
        try {
          const result = await start(repository, subcommand, args, {
            ...(input === undefined ? {} : { input }),
            ...(output === undefined ? {} : { output }),
            signal: AbortSignal.any([signal, stop.signal]),
            token,
            isUncached,
            onStderr: retries.add,
          });
          await poll();
          return result;
        } finally {
          clearInterval(timer);
        }
      }, signal);
    },
    async close() {
      closing.abort(new InfraError(hostReasons.SHUTTING_DOWN, "The gateway is stopping"));
      await Promise.all([questions.idle(), transfers.idle()]);
    },
  };
}
