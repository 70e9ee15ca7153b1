import { setTimeout as sleep } from "node:timers/promises";
import type { Reason } from "../../../../adapters/host/define-reasons.ts";
import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import { podmanReasons } from "../../../../adapters/podman/reasons.ts";
import { listOpen } from "../../../operations/list-open.ts";
import type { PlannedMutation } from "../../../operations/mutation.ts";
import type { Json, Operation } from "../../../operations/operation.ts";
import type { Operations } from "../../../operations/operations.ts";
import type { Call } from "../../../rpc/call.ts";
import { methodPathOf } from "../../../rpc/method-rule.ts";
import { backendOf } from "./backend-of.ts";
import type { ChangeDefinition, ForeseenChange } from "./change-definition.ts";

/** A change of a pod or an image, as an operation. */
export interface PodChange<Request> {
  /**
   * Starts the operation, or returns the running one for the same request.
   * @throws InfraError INVALID_FIELD, POD_NOT_FOUND, POD_STATE, IMAGE_NOT_FOUND, IMAGE_IN_USE, BUSY, and as `PodRuntime.read`
   */
  begin(request: Request, call: Call): Promise<Operation>;
  /** Plans the change. @throws as `begin` */
  plan(request: Request, signal: AbortSignal): Promise<PlannedMutation>;
}

export interface PodChangeOptions {
  readonly runtime: PodRuntime;
  readonly operations: Pick<Operations, "register" | "list">;
  readonly host: string;
}

/** Podman reports its changes up to 250 ms late, so a resource that was just created may not be known yet. */
const lateMs = 300;
const lateReasons: readonly Reason[] = [
  podmanReasons.POD_NOT_FOUND,
  podmanReasons.IMAGE_NOT_FOUND,
  podmanReasons.IMAGE_IN_USE,
];

/** Registers the kind of operation. */
export function createPodChange<Request, Input extends Json>(
  { runtime, operations, host }: PodChangeOptions,
  definition: ChangeDefinition<Request, Input>,
): PodChange<Request> {
  const { kind, attachKeyOf, isFor } = definition;
  const starter = operations.register(kind);

  async function foresee(request: Request, signal: AbortSignal) {
    const backend = await backendOf(runtime, host, signal);
    try {
      return { backend, ...(await definition.foresee(request, backend, signal)) };
    } catch (error) {
      if (!hasReason(error, ...lateReasons)) {
        throw error;
      }
      await sleep(lateMs);
      signal.throwIfAborted();
      return { backend, ...(await definition.foresee(request, backend, signal)) };
    }
  }

  /** A running operation may already have removed the resource in the request. */
  async function underWay(request: Request): Promise<Operation | undefined> {
    if (isFor === undefined) {
      return undefined;
    }
    const open = await listOpen(operations, { kind: kind.kind, host });
    return open.find(({ input }) => isFor(request, input as Input));
  }

  async function start(foreseen: ForeseenChange<Input> & { readonly backend: string }, call: Call) {
    const { resource, backend, input } = foreseen;
    const { caller, method } = call;
    const begun = await starter.start({
      resource,
      backend,
      input,
      secrets: null,
      asker: { actor: caller.actor, accountId: caller.accountId, rpc: methodPathOf(method) },
      ...(attachKeyOf === undefined ? {} : { attachKey: `${kind.kind} ${host} ${attachKeyOf(input)}` }),
    });
    return begun.operation;
  }

  async function beginOrFind(request: Request, call: Call): Promise<Operation> {
    try {
      return await start(await foresee(request, call.signal), call);
    } catch (error) {
      const isGone = error instanceof InfraError && error.code === "NOT_FOUND";
      const open = isGone ? await underWay(request) : undefined;
      if (open === undefined) {
        throw error;
      }
      return open;
    }
  }

  return {
    async begin(request, call) {
      const operation = await beginOrFind(request, call);
      call.noteResource(operation.resource);
      call.noteOperation(operation.id);
      return operation;
    },
    async plan(request, signal) {
      const { resource, backend, step, changes, losses } = await foresee(request, signal);
      // The last step makes the change; the ones before only read.
      const steps = kind.steps.map(({ name }, index) => ({
        name,
        command: index === kind.steps.length - 1 ? runtime.commandOf(step) : [],
      }));
      return {
        kind: kind.kind,
        resource,
        backend,
        plan: { changes, losses },
        steps,
        pointOfNoReturn: steps.length - 1,
      };
    },
  };
}
