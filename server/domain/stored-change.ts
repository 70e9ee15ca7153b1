import { hasReason } from "../../adapters/host/infra-error.ts";
import type { PlannedMutation, PlanText } from "../operations/mutation.ts";
import type { AppliedPlan } from "../rpc/call/applied-plan.ts";
import type { Call } from "../rpc/call/call.ts";
import { storeReasons } from "../store/reasons.ts";
import type { ChangeMode } from "../store/transaction.ts";
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
   * @throws InfraError RECORD_CHANGED if `describe` would describe another change than for `how.since`
   */
  apply(spec: Spec, how: ChangeMode<Result>): Promise<Result>;
  /** Describes the change, with the result of its dry run. */
  describe(spec: Spec, result: Result): Pick<PlanText, "changes"> & Partial<PlanText>;
}

const maxTries = 5;

/**
 * Makes a change executable.
 * @param respond builds the response from the result of the transaction
 */
export function createStoredChange<Request, Spec, Result, Response>(
  { kind, resourceOf, parse, apply, describe }: StoredChange<Request, Spec, Result>,
  respond: (result: Result, call: Call, spec: Spec) => Response | Promise<Response>,
): Change<Request, Promise<Response>> {
  function mutationOf(request: Request, spec: Spec, result: Result): PlannedMutation {
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

  /** Makes the change that a plan allows. Another gateway may change the records after they were compared with the plan. */
  async function applyPlanned(request: Request, spec: Spec, plan: AppliedPlan): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      const since = await apply(spec, { dryRun: true });
      plan.assertSame(mutationOf(request, spec, since));
      try {
        return await apply(spec, { since });
      } catch (error) {
        if (tries === maxTries || !hasReason(error, storeReasons.RECORD_CHANGED)) {
          throw error;
        }
      }
    }
  }

  return {
    async plan(request) {
      const spec = parse(request, "");
      return mutationOf(request, spec, await apply(spec, { dryRun: true }));
    },
    async run(request, call) {
      call.noteResource(resourceOf(request));
      const spec = parse(request, call.caller.actor);
      const result = await (call.appliedPlan === undefined
        ? apply(spec, {})
        : applyPlanned(request, spec, call.appliedPlan));
      return respond(result, call, spec);
    },
  };
}
