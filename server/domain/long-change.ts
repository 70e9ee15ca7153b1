import type { PlannedMutation } from "../operations/mutation.ts";
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
  readonly input: Input;
  readonly secrets: Secrets;
  /** A request with the key of an operation that has not ended joins it. Absent: each request begins its own. */
  readonly attachKey?: string;
  /** For people: the changes, and what will be lost. */
  readonly plan: PlannedMutation["plan"];
  /** Commands that the steps run, as argv for display, by the names of the steps. */
  readonly commands: Readonly<Record<string, readonly string[]>>;
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

/**
 * Makes a change executable, and registers its kind of operation. Must be called before `operations.begin`.
 * @param respond begins the operation, and returns the response or a stream of its progress
 */
export function createLongChange<Request, Input extends Json, Secrets extends Json, Response>(
  operations: Pick<Operations, "register">,
  { kind, check }: LongChange<Request, Input, Secrets>,
  respond: (begin: () => Promise<BegunOperation>, call: Call) => Response,
): Change<Request, Response> {
  const starter = operations.register(kind);

  async function begin(request: Request, call: Call): Promise<BegunOperation> {
    const checked = await check(request, call);
    const begun =
      "joins" in checked ? { operation: checked.joins, isNew: false } : await start(checked, call);
    call.noteResource(begun.operation.resource);
    call.noteOperation(begun.operation.id);
    return begun;
  }

  function start(
    checked: CheckedOperation<Input, Secrets>,
    { caller, method }: Call,
  ): Promise<BegunOperation> {
    const { resource, backend, input, secrets, attachKey } = checked;
    return starter.start({
      resource,
      backend,
      input,
      secrets,
      asker: { actor: caller.actor, accountId: caller.accountId, rpc: methodPathOf(method) },
      ...(attachKey === undefined ? {} : { attachKey }),
    });
  }

  return {
    async plan(request, requester) {
      const checked = await check(request, requester);
      return "joins" in checked ? nothingToDo(checked.joins) : planOf(kind, checked);
    },
    run: (request, call) => respond(() => begin(request, call), call),
  };
}

function planOf<Input extends Json, Secrets extends Json>(
  { kind, steps, pointOfNoReturn }: OperationKind<Input, Secrets>,
  { resource, backend, plan, commands }: CheckedOperation<Input, Secrets>,
): PlannedMutation {
  const noReturn = steps.findIndex(({ name }) => name === pointOfNoReturn);
  return {
    kind,
    resource,
    backend,
    plan,
    steps: steps.map(({ name }) => ({ name, command: commands[name] ?? [] })),
    pointOfNoReturn: noReturn === -1 ? steps.length : noReturn,
  };
}

/** Returns the plan of a request that joins an operation in progress. */
function nothingToDo({ kind, resource, backend }: Operation): PlannedMutation {
  return { kind, resource, backend, plan: { changes: [], losses: [] }, steps: [], pointOfNoReturn: 0 };
}
