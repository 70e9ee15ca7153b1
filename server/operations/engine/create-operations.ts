import { randomUUID } from "node:crypto";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { type Purge, startPurge } from "../../store/purge.ts";
import type { Json } from "../operation.ts";
import { publishEnd } from "../operation-end.ts";
import type { OperationKind } from "../operation-kind.ts";
import { operationNotFound } from "../operation-not-found.ts";
import type {
  CheckOperationPlan,
  OperationAtSeq,
  OperationSpec,
  OperationStarter,
  Operations,
} from "../operations.ts";
import type { OperationsOptions } from "../operations-options.ts";
import { operationReasons } from "../reasons.ts";
import { createEndedWaits } from "./ended-waits.ts";
import type { AnyKind } from "./operation-run.ts";
import { sealSecrets } from "./operation-secrets.ts";
import { createOperationWorker } from "./operation-worker.ts";
import { planStepName } from "./plan-step.ts";
import { cancelRefused, retryRefused } from "./request-refusals.ts";

const purgeBatch = 100;

/** Creates the operations of a store. After `begin`, this gateway runs those that it supports. */
export function createOperations(options: OperationsOptions): Operations {
  const { store, instance, limits, log, seal } = options;
  const kinds = new Map<string, AnyKind>();
  let checkPlan: CheckOperationPlan = async () => {
    throw new Error("no check of plans is set");
  };
  const worker = createOperationWorker(options, kinds, (...of) => checkPlan(...of));
  const waits = createEndedWaits(store);
  let purge: Purge | undefined;

  async function getAtSeq(id: string): Promise<OperationAtSeq> {
    const found = await store.run("operations.get", { id });
    if (found === undefined) {
      throw operationNotFound(id);
    }
    return found;
  }

  async function start(kind: AnyKind, spec: OperationSpec<Json, Json>) {
    const id = randomUUID();
    const { resource, backend, input, secrets, requester, attachKey, plan } = spec;
    const { maxOpen } = limits;
    const outcome = await store.run("operations.start", {
      newOperation: {
        id,
        kind: kind.kind,
        resource,
        backend,
        system: kind.system,
        host: kind.runsOn === "host" ? instance.host : null,
        rpc: requester.rpc,
        actor: requester.actor,
        account_id: requester.accountId,
        attach_key: attachKey ?? null,
        input_json: JSON.stringify(input),
        secrets_sealed: sealSecrets(seal, secrets, id) ?? null,
        plan_id: plan?.id ?? null,
        plan_json: plan === undefined ? null : JSON.stringify(plan.mutation),
      },
      steps: [...(plan === undefined ? [] : [planStepName]), ...kind.steps.map(({ name }) => name)],
      isFirstStepDone: kind.followsChange === true,
      isPastReturn: kind.followsChange === true && kind.steps.every(({ undo }) => undo === undefined),
      maxOpen,
    });
    if (!outcome.ok) {
      const message =
        outcome.of === "all"
          ? `${outcome.open} operations are already running or queued, which is the limit (operations.maxOpen)`
          : `${outcome.open} operations of this caller are already running or queued, which is the limit per caller (half of operations.maxOpen)`;
      throw new InfraError(hostReasons.BUSY, message, { retryAfterMs: 1000 });
    }
    worker.wake();
    return outcome;
  }

  return {
    register<Input extends Json, Secrets extends Json>(
      kind: OperationKind<Input, Secrets>,
    ): OperationStarter<Input, Secrets> {
      assertKind(kind, kinds);
      // Its operations always get inputs and secrets of the types that they were started with.
      const known = kind as unknown as AnyKind;
      kinds.set(kind.kind, known);
      return { start: (spec) => start(known, spec) };
    },
    checkPlansWith(check) {
      checkPlan = check;
    },
    begin() {
      worker.begin();
      purge = startPurge(
        async () =>
          (await store.run("operations.purge", { keepMs: limits.keepMs, limit: purgeBatch })).count ===
          purgeBatch,
        (error) => log.warn("old operations could not be removed", error),
      );
    },
    get: async (id) => (await getAtSeq(id)).operation,
    getAtSeq,
    list: (filters, { belowSeq, limit }) => store.run("operations.list", { filters, belowSeq, limit }),
    counts: () => store.run("operations.counts", undefined),
    async commands(id, { aboveSeq, limit }) {
      const rows = await store.run("operations.commands", { id, aboveSeq, limit: limit + 1 });
      if (rows === undefined) {
        throw operationNotFound(id);
      }
      const page = rows.slice(0, limit);
      const commands = page.map((row) => ({
        atMs: row.at,
        step: row.step,
        argv: JSON.parse(row.argv_json) as string[],
        exitCode: row.exit_code ?? undefined,
        signal: row.signal ?? undefined,
        durationMs: row.duration_ms,
        host: row.host,
      }));
      return { commands, nextSeq: rows.length > limit ? page.at(-1)?.seq : undefined };
    },
    async cancel(id) {
      const outcome = await store.run("operations.cancel", { id });
      if (!outcome.ok) {
        throw cancelRefused(id, outcome.why, outcome.detail);
      }
      worker.wake();
      publishEnd(log, outcome.operation);
      return outcome.operation;
    },
    async retry(id) {
      const outcome = await store.run("operations.retry", { id });
      if (!outcome.ok) {
        throw retryRefused(id, outcome.why, outcome.detail);
      }
      worker.wake();
      return outcome.operation;
    },
    ended: waits.ended,
    async assertFree(resource, except) {
      const open = await store.run("operations.openOf", { resource, host: instance.host, except });
      if (open !== undefined) {
        const message = `operation ${open.id} (${open.kind}) is using this resource; wait until it ends, or cancel it`;
        throw new InfraError(operationReasons.OPERATION_IN_PROGRESS, message, {
          resource,
          retryAfterMs: 1000,
        });
      }
    },
    async close() {
      await Promise.all([worker.close(), purge?.stop()]);
      waits.close();
    },
  };
}

function assertKind(
  {
    kind,
    steps,
    pointOfNoReturn,
  }: Pick<AnyKind, "kind" | "pointOfNoReturn"> & {
    readonly steps: readonly { readonly name: string }[];
  },
  kinds: ReadonlyMap<string, unknown>,
): void {
  const names = steps.map(({ name }) => name);
  if (kinds.has(kind) || new Set(names).size < names.length || names.length === 0) {
    throw new Error(`${kind} is registered twice, has no steps, or has two steps with the same name`);
  }
  if (pointOfNoReturn !== undefined && !names.includes(pointOfNoReturn)) {
    throw new Error(`${kind} has no step ${pointOfNoReturn}`);
  }
}
