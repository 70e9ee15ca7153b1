import type { Selectable } from "kysely";
import { appendEvents, type NewEvent } from "../../events/store/events.ts";
import type { TransactionContext } from "../../store/transaction.ts";
import type { Attention, Json, Operation, OperationFailure, StepState } from "../operation.ts";
import type { OperationStepsTable, OperationsTable } from "./tables.ts";
import { isStranded } from "./unknown-kind.ts";

export type OperationRow = Selectable<OperationsTable>;
export type OperationStepRow = Selectable<OperationStepsTable>;

const perMillion = 1_000_000;

/** Converts a row to the operation that callers see: without its secrets and its owner. */
function operationFromRow(row: OperationRow, steps: readonly OperationStepRow[]): Operation {
  const state = row.state as Operation["state"];
  return {
    id: row.id,
    kind: row.kind,
    resource: row.resource,
    backend: row.backend,
    host: row.host ?? undefined,
    rpc: row.rpc,
    actor: row.actor,
    input: JSON.parse(row.input_json) as Json,
    state,
    message: row.message,
    waitingFor: row.waiting_for,
    progress: row.progress_ppm === null ? undefined : row.progress_ppm / perMillion,
    doneBytes: row.done_bytes ?? undefined,
    totalBytes: row.total_bytes ?? undefined,
    step: row.step ?? undefined,
    steps: steps.map((step) => ({
      name: step.name,
      state: step.state as StepState,
      attempt: step.attempt,
      startedAtMs: step.started_at ?? undefined,
      endedAtMs: step.ended_at ?? undefined,
      error: step.error ?? undefined,
    })),
    attempt: row.attempt,
    isCancelRequested: row.cancel_requested === 1,
    isCancellable:
      ((state === "scheduled" || state === "active") && row.past_return === 0) ||
      state === "needsAttention" ||
      isStranded(row),
    failure: parsed<OperationFailure>(row.error_json),
    attention: parsed<Attention>(row.attention_json),
    result: parsed<Json>(row.result_json),
    createdAtMs: row.created_at,
    startedAtMs: row.started_at ?? undefined,
    endedAtMs: row.ended_at ?? undefined,
  };
}

function parsed<T>(json: string | null): T | undefined {
  return json === null ? undefined : (JSON.parse(json) as T);
}

/** Reads the steps of an operation, in order. */
export async function stepsOf(context: TransactionContext, id: string): Promise<OperationStepRow[]> {
  return (await stepsOfAll(context, [id])).get(id) ?? [];
}

/** Reads the steps of operations by operation ID, in order. */
async function stepsOfAll(
  { db }: TransactionContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, OperationStepRow[]>> {
  const rows = await db
    .selectFrom("operation_steps")
    .selectAll()
    .where("operation_id", "in", ids)
    .orderBy("position")
    .execute();
  return Map.groupBy(rows, ({ operation_id }) => operation_id);
}

/** Converts rows to operations, in their order. */
export async function operationsFromRows(
  context: TransactionContext,
  rows: readonly OperationRow[],
): Promise<Operation[]> {
  const ids = rows.map(({ id }) => id);
  const steps = ids.length === 0 ? new Map() : await stepsOfAll(context, ids);
  return rows.map((row) => operationFromRow(row, steps.get(row.id) ?? []));
}

/** Appends an event with the new state of each operation, in the transaction that changed them. */
export async function publishOperations(
  context: TransactionContext,
  rows: readonly OperationRow[],
): Promise<readonly Operation[]> {
  const operations = await operationsFromRows(context, rows);
  const events = operations.map(
    (operation): NewEvent => ({
      topic: "operations",
      type: "operation.changed",
      resource: operation.resource,
      host: operation.host ?? "",
      operationId: operation.id,
      services: [operation.rpc.slice(0, operation.rpc.lastIndexOf("/"))],
      payload: { ...operation, input: null },
    }),
  );
  await appendEvents(context, events);
  return operations;
}

/** Appends an event with the new state of one operation. */
export async function publishOperation(context: TransactionContext, row: OperationRow): Promise<Operation> {
  const [operation] = await publishOperations(context, [row]);
  return operation as Operation;
}

/** Converts one row to its operation. */
export async function operationOf(context: TransactionContext, row: OperationRow): Promise<Operation> {
  const [operation] = await operationsFromRows(context, [row]);
  return operation as Operation;
}

/** Reads an operation; undefined if there is none with this ID. */
export function rowOf({ db }: TransactionContext, id: string): Promise<OperationRow | undefined> {
  return db.selectFrom("operations").selectAll().where("id", "=", id).executeTakeFirst();
}

/** Erases the secrets of a row; an empty value shows that there were some. */
export function withoutSecrets({ secrets_sealed }: OperationRow): Pick<OperationRow, "secrets_sealed"> {
  return { secrets_sealed: secrets_sealed === null ? null : new Uint8Array() };
}
