import { isAbsolute } from "node:path";
import { Worker } from "node:worker_threads";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import type { Expectations } from "../database-facts.ts";
import { noteCommitted } from "../note-committed.ts";
import { moduleUrl, type ProgramModules } from "../program.ts";
import { storeReasons } from "../reasons.ts";
import type { Backup, Store } from "../store.ts";
import type { StoreLog } from "../store-log.ts";
import { createSubscribers } from "../subscribers.ts";
import {
  errorFromPortable,
  type WorkerAnswer,
  type WorkerRequest,
  type WorkerStart,
} from "./sqlite-messages.ts";

/** Options of `openSqliteStore`. */
export interface SqliteStoreOptions {
  readonly file: string;
  readonly expectations: Expectations;
  readonly modules: ProgramModules;
  readonly log: StoreLog;
}

const workerYoungMb = 6;

type Done = Extract<WorkerAnswer, { answer: "done" }>;

interface Waiting {
  resolve(answer: Done): void;
  reject(error: InfraError): void;
}

type Request = Extract<WorkerRequest, { id: number }>;
/** A request without its number. */
type NewRequest = Request extends infer R ? (R extends Request ? Omit<R, "id"> : never) : never;

/**
 * Opens a database file in a dedicated thread. If the thread dies, pending and later calls fail with STORE_UNAVAILABLE.
 * @throws InfraError the errors of `openStore`
 */
export async function openSqliteStore<T>({
  file,
  expectations,
  modules,
  log,
}: SqliteStoreOptions): Promise<Store<T>> {
  const workerData: WorkerStart = { file, expectations, modules };
  // Options such as `--import` are not meant for this thread, and would slow its start.
  const worker = new Worker(new URL(moduleUrl("./sqlite-worker", import.meta.url)), {
    workerData,
    execArgv: [],
    // Rows and messages are short-lived; a larger young generation would only cost memory.
    resourceLimits: { maxYoungGenerationSizeMb: workerYoungMb },
  });
  const subscribers = createSubscribers();
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  /** Why requests are no longer accepted. */
  let ended: InfraError | undefined;
  let closed: Promise<void> | undefined;

  const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  const opened = Promise.withResolvers<void>();

  function end(error: InfraError): void {
    ended ??= error;
    opened.reject(ended);
    for (const { reject } of waiting.values()) {
      // The thread may have committed it without answering.
      reject(ended.withEffect("possible"));
    }
    waiting.clear();
  }

  function die(cause: unknown): void {
    if (ended === undefined) {
      log.fatal("the database thread died; restart the gateway", cause);
    }
    end(
      new InfraError(
        storeReasons.STORE_UNAVAILABLE,
        "the gateway's database is unavailable until the gateway is restarted",
        {
          cause,
        },
      ),
    );
  }

  worker.on("error", die);
  void exited.then(() => {
    if (closed === undefined) {
      die(new Error("the thread exited unexpectedly"));
    }
  });
  worker.on("message", (answer: WorkerAnswer) => {
    if (answer.answer === "ready") {
      for (const note of answer.notes) {
        log.info(note);
      }
      opened.resolve();
    } else if (answer.answer === "refused") {
      end(errorFromPortable(answer.error));
    } else if (answer.answer === "done") {
      for (const topic of answer.topics) {
        subscribers.call(topic);
      }
      waiting.get(answer.id)?.resolve(answer);
      waiting.delete(answer.id);
    } else {
      waiting.get(answer.id)?.reject(errorFromPortable(answer.error));
      waiting.delete(answer.id);
    }
  });

  function send(request: NewRequest): Promise<Done> {
    if (ended !== undefined) {
      return Promise.reject(ended);
    }
    return new Promise((resolve, reject) => {
      lastId += 1;
      worker.postMessage({ ...request, id: lastId });
      waiting.set(lastId, { resolve, reject });
    });
  }

  async function close(): Promise<void> {
    if (ended === undefined) {
      ended = new InfraError(hostReasons.SHUTTING_DOWN, "the store is closed");
      worker.postMessage({ type: "close" } satisfies WorkerRequest);
    }
    await exited;
  }

  await opened.promise;
  return {
    isShared: false,
    async run(name, args) {
      const { result, topics } = await send({ type: "run", name, args });
      noteCommitted(topics);
      return result as never;
    },
    subscribe: subscribers.add,
    async backup(backupFile) {
      if (!isAbsolute(backupFile)) {
        // The gateway's working directory is not the caller's.
        const message = `the backup file must be an absolute path, got ${JSON.stringify(backupFile)}`;
        throw new InfraError(storeReasons.BACKUP_REFUSED, message);
      }
      const { result } = await send({ type: "backup", file: backupFile });
      return result as Backup;
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}
