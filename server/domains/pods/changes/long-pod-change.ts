import { setTimeout as sleep } from "node:timers/promises";
import type { Reason } from "../../../../adapters/host/define-reasons.ts";
import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import { podmanReasons } from "../../../../adapters/podman/reasons.ts";
import { type CheckedOperation, type LongChange, stepsOfKind } from "../../../domain/long-change.ts";
import { listOpen } from "../../../operations/list-open.ts";
import type { Json, Operation } from "../../../operations/operation.ts";
import type { Operations } from "../../../operations/operations.ts";
import { factsOf } from "../../../operations/plan-facts.ts";
import { backendOf } from "./backend-of.ts";
import type { PodChange } from "./pod-change.ts";

export interface LongPodChangeOptions {
  readonly runtime: PodRuntime;
  readonly operations: Pick<Operations, "list">;
  readonly host: string;
}

/** Podman reports its changes up to 250 ms late, so a resource that was just created may not be known yet. */
const lateMs = 300;
const lateReasons: readonly Reason[] = [
  podmanReasons.POD_NOT_FOUND,
  podmanReasons.IMAGE_NOT_FOUND,
  podmanReasons.IMAGE_IN_USE,
];

/** Returns the operation of a change: it is checked again when Podman may be late, and an equal request joins the one in progress. */
export function createLongPodChange<Request, Input extends Json>(
  { runtime, operations, host }: LongPodChangeOptions,
  change: PodChange<Request, Input>,
): LongChange<Request, Input> {
  const { kind, attachKeyOf, isFor } = change;

  async function checkTwice(request: Request, signal: AbortSignal): Promise<CheckedOperation<Input>> {
    const backend = await backendOf(runtime, host, signal);
    try {
      return await checkNow(request, backend, signal);
    } catch (error) {
      if (!hasReason(error, ...lateReasons)) {
        throw error;
      }
      await sleep(lateMs);
      signal.throwIfAborted();
      return checkNow(request, backend, signal);
    }
  }

  async function checkNow(
    request: Request,
    backend: string,
    signal: AbortSignal,
  ): Promise<CheckedOperation<Input>> {
    const { resource, input, step, changes, losses, facts } = await change.check(request, backend, signal);
    // The last step makes the change; the ones before only read.
    const { name = "" } = kind.steps.at(-1) ?? {};
    return {
      resource,
      backend,
      input,
      secrets: null,
      ...(attachKeyOf === undefined ? {} : { attachKey: `${kind.kind} ${host} ${attachKeyOf(input)}` }),
      plan: { changes, losses, facts: factsOf(resource, facts) },
      steps: stepsOfKind(kind, { [name]: runtime.commandOf(step) }),
    };
  }

  /** A running operation may already have removed the resource in the request. */
  async function running(request: Request, except: string | undefined): Promise<Operation | undefined> {
    if (isFor === undefined) {
      return undefined;
    }
    const open = await listOpen(operations, { kind: kind.kind, host, except });
    return open.find(({ input }) => isFor(request, input as Input));
  }

  return {
    kind,
    async check(request, { signal, operation }) {
      try {
        return await checkTwice(request, signal);
      } catch (error) {
        const isGone = error instanceof InfraError && error.code === "NOT_FOUND";
        const joins = isGone ? await running(request, operation?.id) : undefined;
        if (joins === undefined) {
          throw error;
        }
        return { joins };
      }
    },
  };
}
