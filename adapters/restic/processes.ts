import { basename } from "node:path";
import { InfraError } from "../host/infra-error.ts";
import { createLimiter } from "../host/limiter.ts";
import { markOf } from "../host/marked-processes.ts";
import { run } from "../host/run.ts";
import type { ReadRunOptions } from "../host/run-options.ts";
import type { ToolEnd } from "../host/tool-result.ts";
import type { Repository, TransferOptions } from "./adapter.ts";
import { environmentOfRepository, type ResticCommandOptions, resticCommand } from "./commands.ts";
import { errorFromFailure } from "./errors.ts";
import { createRetryWatch } from "./retry-watch.ts";
import { createRedact } from "./secrets.ts";

export interface ResticProcessOptions extends ResticCommandOptions {
  /** Told of each tool that has ended, for logs and metrics. */
  readonly onToolEnd?: ((end: ToolEnd) => void) | undefined;
  /** After so long a command that only asks a repository is stopped; 60,000 unless told. */
  readonly answerTimeoutMs?: number;
  /** How long a transfer may try one thing again and again; 40,000 unless told. */
  readonly patienceMs?: number;
  /** How long a transfer may move nothing, without a word; 600,000 unless told. */
  readonly stallMs?: number;
  /** How often the progress of a transfer is looked at; 1,000 unless told. */
  readonly progressMs?: number;
}

/** What a transfer moves, and where. */
export interface TransferData {
  readonly input?: ReadRunOptions["input"];
  readonly output?: ReadRunOptions["output"];
  /** Undefined where nobody knows. */
  readonly totalBytes: number | undefined;
  /** Read all from the repository itself, and nothing from the cache. */
  readonly isUncached?: boolean;
  /** How many bytes have moved. */
  readonly position: () => Promise<number>;
}

/** How restic ended, whatever its exit code. */
export interface ResticResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  /** What its end means where it is a failure, in its own words without secrets. */
  readonly failure: () => InfraError;
}

/** Starts restic. Results are of any exit code; no secret is in an error or told to an observer. */
export interface ResticProcesses {
  /** A command that is done in a moment. @throws InfraError REPOSITORY_UNREACHABLE when it is not, and as `run` */
  ask(
    repository: Repository,
    subcommand: string,
    args: readonly string[],
    options: { readonly signal: AbortSignal; readonly token?: string },
  ): Promise<ResticResult>;
  /** A command that takes long. @throws InfraError REPOSITORY_UNREACHABLE when it gets nowhere, and as `run` */
  transfer(
    repository: Repository,
    subcommand: string,
    args: readonly string[],
    options: TransferOptions,
    data?: TransferData,
  ): Promise<ResticResult>;
  /** Stops all, and resolves once they are gone. */
  close(): Promise<void>;
}

interface StartOptions extends Partial<ReadRunOptions> {
  readonly token?: string | undefined;
  readonly isUncached?: boolean;
}

/** Starts the restic of this machine, of short commands at most four at once. */
export function createResticProcesses(options: ResticProcessOptions): ResticProcesses {
  const { answerTimeoutMs = 60_000, patienceMs = 40_000, stallMs = 600_000, progressMs = 1_000 } = options;
  const { onToolEnd, command = ["restic"] } = options;
  const closing = new AbortController();
  const questions = createLimiter({ what: "restic commands", maxRunning: 4, maxWaiting: 256 });
  // How many run at once is for those to decide who begin them.
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
      // restic 0.14 removes its lock on this one only: "signal interrupt received, cleaning up".
      stopSignal: "SIGINT",
      tool: { program: basename(command.at(-1) ?? ""), subcommand },
      redact,
      onToolEnd,
    });
    const { exitCode, stdout } = result;
    return { exitCode, stdout, failure: () => errorFromFailure(result, redact) };
  }

  return {
    ask(repository, subcommand, args, { signal, token }) {
      return questions.run(async () => {
        try {
          return await start(repository, subcommand, args, { signal, token, timeoutMs: answerTimeoutMs });
        } catch (error) {
          if (error instanceof InfraError && error.reason === "TOOL_TIMEOUT") {
            const words = `restic ${subcommand} had no answer from the repository in ${answerTimeoutMs} ms`;
            throw new InfraError("REPOSITORY_UNREACHABLE", words);
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

        async function look(): Promise<void> {
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
            const words = `restic ${subcommand} has moved nothing for ${stallMs} ms`;
            stop.abort(new InfraError("REPOSITORY_UNREACHABLE", words));
          }
        }

        const timer = setInterval(() => void look().catch(() => {}), progressMs);
        try {
          const result = await start(repository, subcommand, args, {
            ...(input === undefined ? {} : { input }),
            ...(output === undefined ? {} : { output }),
            signal: AbortSignal.any([signal, stop.signal]),
            token,
            isUncached,
            onStderr: retries.add,
          });
          await look();
          return result;
        } finally {
          clearInterval(timer);
        }
      }, signal);
    },
    async close() {
      closing.abort(new InfraError("SHUTTING_DOWN", "The gateway is stopping"));
      await Promise.all([questions.idle(), transfers.idle()]);
    },
  };
}
