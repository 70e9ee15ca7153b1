import type { PlannedMutation, PlannedStep } from "../operations/mutation.ts";
import type { Json, Operation } from "../operations/operation.ts";
import type { OperationKind } from "../operations/operation-kind.ts";
import type { Operations } from "../operations/operations.ts";
import type { PlanRequester } from "../operations/planner.ts";
import type { Call } from "../rpc/call/call.ts";
import { methodPathOf } from "../rpc/call/method-rule.ts";
import type { Change } from "./change.ts";

/** An operation that would begin, checked against the current state. */
export interface CheckedOperation<Input extends Json, Secrets extends Json = null> {
  /** The resource that changes, as in events. */
  readonly resource: string;
  /** ID of the target system. */
  readonly backend: string;
  /** A function if the input can only be completed when the operation begins, since that writes to the store. */
  readonly input: Input | ((call: Call) => Promise<Input>);
  readonly secrets: Secrets;
  /** A request with the key of an operation that has not ended joins it. Absent: each request begins its own. */
  readonly attachKey?: string;
  /** For people: the changes, and what will be lost. */
  readonly plan: PlannedMutation["plan"];
  /** The steps that will do something, in the kind's order and with its names; one with several commands occurs repeatedly. */
  readonly steps: readonly PlannedStep[];
}

/** A change that takes longer than a call should wait. An operation makes it. */
export interface LongChange<Request, Input extends Json, Secrets extends Json = null> {
  /** The steps of the operation with their undo. */
  readonly kind: OperationKind<Input, Secrets>;
  /**
   * Runs every check against the current state, and describes the operation.
   * @returns `joins`: the operation in progress that an equal request began
   * @throws InfraError
   */
  check(
    request: Request,
    requester: PlanRequester,
  ): Promise<CheckedOperation<Input, Secrets> | { readonly joins: Operation }>;
}

/** An operation that a request has begun or joined. */
export interface BegunOperation {
  readonly operation: Operation;
  readonly isNew: boolean;
}

/** A long change whose kind is registered, so that it can begin. */
export interface OperationChange<Request, Input extends Json = Json, Secrets extends Json = Json>
  extends LongChange<Request, Input, Secrets> {
  /** @throws InfraError as `check` */
  plan(request: Request, requester: PlanRequester): Promise<PlannedMutation>;
  /** Checks the change and begins it, or joins the operation in progress. @throws InfraError as `check` */
  begin(request: Request, call: Call): Promise<BegunOperation>;
  /** Begins what `check` has described. @throws InfraError STORE_UNAVAILABLE, BUSY */
  start(checked: Awaited<ReturnType<this["check"]>>, call: Call): Promise<BegunOperation>;
}

/** Registers the kind of a long change. Must be called before `operations.begin`. */
export function registerLongChange<Request, Input extends Json, Secrets extends Json>(
  operations: Pick<Operations, "register">,
  { kind, check }: LongChange<Request, Input, Secrets>,
): OperationChange<Request, Input, Secrets> {
  const starter = operations.register(kind);

  async function start(checked: Awaited<ReturnType<typeof check>>, call: Call): Promise<BegunOperation> {
    if ("joins" in checked) {
      return { operation: checked.joins, isNew: false };
    }
    const { caller, method } = call;
    const { resource, backend, input, secrets, attachKey } = checked;
    return starter.start({
      resource,
      backend,
      input: typeof input === "function" ? await input(call) : input,
      secrets,
      asker: { actor: caller.actor, accountId: caller.accountId, rpc: methodPathOf(method) },
      ...(attachKey === undefined ? {} : { attachKey }),
    });
  }

  return {
    kind,
    check,
    start,
    plan: async (request, requester) => planOfCheck(kind, await check(request, requester)),
    async begin(request, call) {
      const begun = await start(await check(request, call), call);
      call.noteResource(begun.operation.resource);
      call.noteOperation(begun.operation.id);
      return begun;
    },
  };
}

/**
 * Makes a change executable, and registers its kind of operation. Must be called before `operations.begin`.
 * @param respond begins the operation, and returns the response or a stream of its progress
 */
export function createLongChange<Request, Input extends Json, Secrets extends Json, Response>(
  operations: Pick<Operations, "register">,
  change: LongChange<Request, Input, Secrets>,
  respond: (begin: () => Promise<BegunOperation>, call: Call) => Response,
): Change<Request, Response> {
  const { plan, begin } = registerLongChange(operations, change);
  return { plan, run: (request, call) => respond(() => begin(request, call), call) };
}

/** Returns all steps of a kind, with the commands of some of them. */
export function stepsOfKind(
  { steps }: { readonly steps: readonly { readonly name: string }[] },
  commands: Readonly<Record<string, readonly string[]>>,
): readonly PlannedStep[] {
  return steps.map(({ name }) => ({ name, command: commands[name] ?? [] }));
}

/** Returns the plan of what `check` has described: nothing, if it joins an operation in progress. */
export function planOfCheck<Input extends Json, Secrets extends Json>(
  kind: OperationKind<Input, Secrets>,
  checked: CheckedOperation<Input, Secrets> | { readonly joins: Operation },
): PlannedMutation {
  if ("joins" in checked) {
    const { resource, backend } = checked.joins;
    return {
      kind: kind.kind,
      resource,
      backend,
      plan: { changes: [], losses: [] },
      steps: [],
      pointOfNoReturn: 0,
    };
  }
  const { resource, backend, plan, steps } = checked;
  const pointOfNoReturn = indexOfNoReturn(kind, steps);
  return { kind: kind.kind, resource, backend, plan, steps, pointOfNoReturn };
}

/** Returns the index of the last command of the first step from which there is no return; the number of steps if there is none. */
function indexOfNoReturn(
  kind: { readonly steps: readonly { readonly name: string }[]; readonly pointOfNoReturn?: string },
  steps: readonly PlannedStep[],
): number {
  const names = kind.steps.map(({ name }) => name);
  const noReturn = kind.pointOfNoReturn === undefined ? names.length : names.indexOf(kind.pointOfNoReturn);
  const first = steps.find(({ name }) => names.indexOf(name) >= noReturn);
  return first === undefined ? steps.length : steps.findLastIndex(({ name }) => name === first.name);
}
