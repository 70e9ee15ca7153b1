import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { loadProgram } from "../program.ts";
import type { Transactions } from "../transaction.ts";
import { backupSqlite } from "./sqlite-backup.ts";
import { runBatch } from "./sqlite-batch.ts";
import { infraErrorFromSqlite } from "./sqlite-errors.ts";
import { portableError, type WorkerAnswer, type WorkerRequest, type WorkerStart } from "./sqlite-messages.ts";
import { type PreparedSqlite, prepareSqlite } from "./sqlite-prepare.ts";

type RunRequest = Extract<WorkerRequest, { type: "run" }>;

/** Opens the database file, which only this thread uses, and answers requests until it is asked to close. */
async function serveDatabase(port: MessagePort, { file, expectations, modules }: WorkerStart): Promise<void> {
  const post = (answer: WorkerAnswer) => port.postMessage(answer);
  try {
    const { transactions, migrations } = await loadProgram(modules);
    const prepared = await prepareSqlite(file, expectations, migrations);
    post({ answer: "ready", notes: prepared.notes });
    answerRequests(port, post, prepared, transactions);
  } catch (error) {
    post({
      answer: "refused",
      error: portableError(infraErrorFromSqlite(error, "the store cannot be opened")),
    });
    port.close();
  }
}

function answerRequests(
  port: MessagePort,
  post: (answer: WorkerAnswer) => void,
  { database, db }: PreparedSqlite,
  transactions: Transactions,
): void {
  const waiting: WorkerRequest[] = [];
  let isWorking = false;

  async function work(): Promise<void> {
    isWorking = true;
    for (takeAll(); waiting.length > 0; takeAll()) {
      const runs = takeRuns();
      if (runs.length > 0) {
        await answerRuns(runs);
      } else {
        answerOther(waiting.shift());
      }
    }
    isWorking = false;
  }

  /** Moves all messages that arrived during a batch into the next one. */
  function takeAll(): void {
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      waiting.push(next.message);
    }
  }

  /** Takes the run requests before the first request of another type. */
  function takeRuns(): RunRequest[] {
    const end = waiting.findIndex(({ type }) => type !== "run");
    return waiting.splice(0, end === -1 ? waiting.length : end) as RunRequest[];
  }

  async function answerRuns(runs: readonly RunRequest[]): Promise<void> {
    const outcomes = await runBatch(database, db, transactions, runs);
    for (const [index, { id }] of runs.entries()) {
      const outcome = outcomes[index];
      if (outcome?.ok === true) {
        post({ answer: "done", id, result: outcome.result, topics: [...outcome.topics] });
      } else {
        post({ answer: "failed", id, error: portableError(asInfraError(outcome?.error)) });
      }
    }
  }

  function answerOther(request: WorkerRequest | undefined): void {
    if (request?.type === "backup") {
      const { id, file } = request;
      try {
        post({ answer: "done", id, result: backupSqlite(database, file), topics: [] });
      } catch (error) {
        post({ answer: "failed", id, error: portableError(asInfraError(error)) });
      }
    } else if (request?.type === "close") {
      database.close();
      port.close();
    }
  }

  port.on("message", (request: WorkerRequest) => {
    waiting.push(request);
    if (!isWorking) {
      void work();
    }
  });
}

function asInfraError(error: unknown): InfraError {
  return error instanceof InfraError ? error : infraErrorFromSqlite(error, "the store failed");
}

if (parentPort !== null) {
  await serveDatabase(parentPort, workerData);
}
