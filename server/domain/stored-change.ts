import type { PlannedMutation, PlanText } from "../operations/mutation.ts";
import type { Call } from "../rpc/call/call.ts";
import type { DryRun } from "../store/transaction.ts";
import type { Change } from "./change.ts";

/** A change of the gateway's own records: one transaction, whose dry run checks everything and writes nothing. */
export interface StoredChange<Request, Spec, Result> {
  /** E.g. `users.create`. */
  readonly kind: string;
  /** Returns the resource that changes, for the log, the audit log and plans. The request may be invalid. */
  resourceOf(request: Request): string;
  /**
   * Validates everything that does not depend on the records.
   * @param actor who makes the change; empty in a plan
   * @throws InfraError
   */
  parse(request: Request, actor: string): Spec;
  /**
   * Runs the transaction.
   * @throws InfraError
   */
  apply(spec: Spec, how: DryRun): Promise<Result>;
  /** Describes the change, with the result of its dry run. */
  describe(spec: Spec, result: Result): Pick<PlanText, "changes"> & Partial<PlanText>;
}

/**
 * Makes a change executable.
 * @param respond builds the response from the result of the transaction
 */
export function createStoredChange<Request, Spec, Result, Response>(
  { kind, resourceOf, parse, apply, describe }: StoredChange<Request, Spec, Result>,
  respond: (result: Result, call: Call, spec: Spec) => Response | Promise<Response>,
): Change<Request, Promise<Response>> {
  async function planOf(request: Request, spec: Spec): Promise<PlannedMutation> {
    const result = await apply(spec, { dryRun: true });
    const { changes, losses = [], facts = [] } = describe(spec, result);
    return {
      kind,
      resource: resourceOf(request),
      backend: "store",
      plan: { changes, losses, facts },
      steps: [{ name: kind, command: [] }],
      pointOfNoReturn: 0,
    };
  }

  return {
    plan: async (request) => planOf(request, parse(request, "")),
    async run(request, call) {
      call.noteResource(resourceOf(request));
      const spec = parse(request, call.caller.actor);
      call.appliedPlan?.assertSame(await planOf(request, spec));
      return respond(await apply(spec, {}), call, spec);
    },
  };
}
