import { type ChildProcess, fork } from "node:child_process";
import type { Reason } from "../define-reasons.ts";
import { InfraError } from "../infra-error.ts";
import { environmentOf } from "./tool-environment.ts";

export interface WorkerProcessOptions {
  /** The file to run. It receives messages `{id, request}` and sends `{id, reply}`, in any order, as JSON. */
  readonly file: URL;
  /** Name of the worker for messages, e.g. `librados`. */
  readonly what: string;
  /** Reason of the error for an unanswered request. */
  readonly unavailable: Reason;
  /** Variables in addition to PATH, HOME and LC_ALL=C. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface WorkerProcess<Request, Reply> {
  /**
   * Sends a request to the worker, which is started if it is not running. A worker that does not answer in time is
   * killed and its pending requests fail; the next request starts a new one.
   * @throws InfraError with the reason `unavailable`
   */
  request(request: Request, timeoutMs: number): Promise<Reply>;
  /** Kills the worker. Requests fail from then on. */
  close(): void;
}

interface Pending<Reply> {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: InfraError) => void;
  readonly timer: NodeJS.Timeout;
}

/** Creates a Node process for code that may hang or crash without affecting the gateway. */
export function createWorkerProcess<Request, Reply>(
  options: WorkerProcessOptions,
): WorkerProcess<Request, Reply> {
  const { file, what, unavailable, env } = options;
  let current: { readonly child: ChildProcess; readonly pending: Map<number, Pending<Reply>> } | undefined;
  let lastId = 0;
  let isClosed = false;

  function start(): NonNullable<typeof current> {
    const pending = new Map<number, Pending<Reply>>();
    const child = fork(file, [], {
      // Without the options of the gateway's own Node, such as a debugger port.
      execArgv: ["--disable-warning=ExperimentalWarning"],
      env: environmentOf(env),
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      // In its own process group, so that a terminal's signals do not reach it; it exits with the gateway.
      detached: true,
    });
    const started = { child, pending };
    child.on("message", ({ id, reply }: { readonly id: number; readonly reply: Reply }) => {
      const waiting = pending.get(id);
      clearTimeout(waiting?.timer);
      pending.delete(id);
      waiting?.resolve(reply);
    });
    child.on("error", (cause) => abandon(started, `cannot be started: ${cause.message}`));
    child.on("exit", (code, signal) => abandon(started, `exited (${signal ?? `exit code ${code}`})`));
    return started;
  }

  function abandon(worker: NonNullable<typeof current>, why: string): void {
    if (current === worker) {
      current = undefined;
    }
    worker.child.kill("SIGKILL");
    for (const { reject, timer } of worker.pending.values()) {
      clearTimeout(timer);
      reject(new InfraError(unavailable, `The ${what} process ${why}`));
    }
    worker.pending.clear();
  }

  return {
    request(request, timeoutMs) {
      if (isClosed) {
        return Promise.reject(new InfraError(unavailable, `The ${what} process is closed`));
      }
      current ??= start();
      const worker = current;
      lastId += 1;
      const id = lastId;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => abandon(worker, `did not answer within ${timeoutMs} ms`), timeoutMs);
        worker.pending.set(id, { resolve, reject, timer });
        worker.child.send({ id, request }, (error) => {
          if (error !== null) {
            abandon(worker, `cannot be reached: ${error.message}`);
          }
        });
      });
    },
    close() {
      isClosed = true;
      if (current !== undefined) {
        abandon(current, "is closed");
      }
    },
  };
}
