import { type ChildProcess, fork } from "node:child_process";
import { InfraError } from "./infra-error.ts";
import type { ReasonName } from "./reasons.ts";
import { environmentOf } from "./tool-environment.ts";

export interface WorkerProcessOptions {
  /** The file that runs in it: it gets messages `{id, request}` and sends `{id, reply}`, in any order, as JSON. */
  readonly file: URL;
  /** What it is, for messages, e.g. `librados`. */
  readonly what: string;
  /** Of the error of a request that is not answered. */
  readonly unavailable: ReasonName;
  /** Variables on top of PATH, HOME and LC_ALL=C. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface WorkerProcess<Request, Reply> {
  /**
   * Asks the worker, which is started when it does not run. One that does not answer in time is killed, and with it all that
   * it was asked; the next request has another.
   * @throws InfraError of the reason `unavailable`
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

/** A process of Node that code runs in which may hang or crash, and must not take the gateway with it. */
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
      // Options of the gateway's own Node, such as a debugger's port, are not for it.
      execArgv: ["--disable-warning=ExperimentalWarning"],
      env: environmentOf(env),
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      // A signal that a terminal sends to the gateway's group is not for it: it goes when the gateway does.
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
    child.on("exit", (code, signal) => abandon(started, `ended (${signal ?? `exit code ${code}`})`));
    return started;
  }

  function abandon(worker: NonNullable<typeof current>, why: string): void {
    if (current === worker) {
      current = undefined;
    }
    worker.child.kill("SIGKILL");
    for (const { reject, timer } of worker.pending.values()) {
      clearTimeout(timer);
      reject(new InfraError(unavailable, `The process of ${what} ${why}`));
    }
    worker.pending.clear();
  }

  return {
    request(request, timeoutMs) {
      if (isClosed) {
        return Promise.reject(new InfraError(unavailable, `The process of ${what} is closed`));
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
            abandon(worker, `cannot be asked: ${error.message}`);
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
