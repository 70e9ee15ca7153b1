import type { PlannedMutation, PlannedStep } from "../operations/mutation.ts";
import type { Json, Operation } from "../operations/operation.ts";
import type { OperationKind } from "../operations/operation-kind.ts";
import type { OperationRequester, Operations } from "../operations/operations.ts";
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
  readonly input: Input | ((by: OperationRequester) => Promise<Input>);
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

/** A long change as services use it. */
export interface BeginnableChange<Request> {
  /** Returns what `begin` would do: nothing if it would join an operation in progress. @throws InfraError as `begin` */
  plan(request: Request, requester: PlanRequester): Promise<PlannedMutation>;
  /** Checks the change and begins it, or joins the operation in progress. @throws InfraError BUSY, STORE_UNAVAILABLE */
  begin(request: Request, call: Call): Promise<BegunOperation>;
}

type Checked<Input extends Json, Secrets extends Json> = Awaited<
  ReturnType<LongChange<never, Input, Secrets>["check"]>
>;

/** A long change whose kind is registered, so that it can begin. */
export interface RegisteredChange<Request, Input extends Json, Secrets extends Json = null>
  extends LongChange<Request, Input, Secrets>,
    BeginnableChange<Request> {
  /** Begins what `check` has described. @throws InfraError BUSY, STORE_UNAVAILABLE */
  start(checked: Checked<Input, Secrets>, by: OperationRequester): Promise<BegunOperation>;
}

/** Registers the kind of a long change. Must be called before `operations.begin`. */
export function registerLongChange<Request, Input extends Json, Secrets extends Json>(
  operations: Pick<Operations, "register">,
  { kind, check }: LongChange<Request, Input, Secrets>,
): RegisteredChange<Request, Input, Secrets> {
  const starter = operations.register(kind);

  async function start(checked: Checked<Input, Secrets>, by: OperationRequester): Promise<BegunOperation> {
    if ("joins" in checked) {
      return { operation: checked.joins, isNew: false };
    }
    const { resource, backend, input, secrets, attachKey } = checked;
    return starter.start({
      resource,
      backend,
      input: typeof input === "function" ? await input(by) : input,
      secrets,
      requester: by,
      ...(by.planId === undefined ? {} : { plan: { id: by.planId, mutation: planOfCheck(kind, checked) } }),
      ...(attachKey === undefined ? {} : { attachKey }),
    });
  }

  return {
    kind,
    check,
    start,
    plan: async (request, requester) => planOfCheck(kind, await check(request, requester)),
    async begin(request, call) {
      const checked = await check(request, call);
      call.appliedPlan?.assertSame(planOfCheck(kind, checked));
      // Before the operation begins, because `noteResource` comes too late to stop it.
      call.caller.ceiling?.assertResource("joins" in checked ? checked.joins.resource : checked.resource);
      const started = await start(checked, operationRequesterOf(call));
      call.noteResource(started.operation.resource);
      call.noteOperation(started.operation.id);
      return started;
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

/** Returns the caller as the requester of an operation. */
export function operationRequesterOf({
  caller,
  method,
  appliedPlan,
}: Pick<Call, "caller" | "method" | "appliedPlan">): OperationRequester {
  const { actor, accountId } = caller;
  return { actor, accountId, rpc: methodPathOf(method), planId: appliedPlan?.id };
}

/** Returns the plan of a request that begins nothing, since it joins an operation or asks for what exists. */
export function nothingToDo(
  kind: string,
  { resource, backend }: Pick<Operation, "resource" | "backend">,
): PlannedMutation {
  return {
    kind,
    resource,
    backend,
    plan: { changes: [], losses: [], facts: [] },
    steps: [],
    pointOfNoReturn: 0,
  };
}

/** Returns the plan of what `check` has described: nothing, if it joins an operation in progress. */
export function planOfCheck<Input extends Json, Secrets extends Json>(
  kind: OperationKind<Input, Secrets>,
  checked: Checked<Input, Secrets>,
): PlannedMutation {
  if ("joins" in checked) {
    return nothingToDo(kind.kind, checked.joins);
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
