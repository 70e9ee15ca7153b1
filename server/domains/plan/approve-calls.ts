import type { DescMethod } from "@bufbuild/protobuf";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { PlannedMutation } from "../../operations/mutation.ts";
import type { Call, Output } from "../../rpc/call/call.ts";
import type { InterceptorFor } from "../../rpc/call/method-interceptors.ts";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import type { ApprovalRules } from "./approval-rules.ts";
import { createPlanAttempt } from "./plan-attempt.ts";
import type { PlannedCall, PlannerOf } from "./plan-call.ts";
import { planReasons } from "./reasons.ts";
import { type SavedMutation, savedMutationFrom } from "./saved-mutation.ts";
import type { SavedPlan } from "./saved-plan.ts";
import type { SavedPlans } from "./saved-plans.ts";

export interface ApproveCallsOptions {
  readonly rules: ApprovalRules;
  readonly plannerOf: PlannerOf;
  readonly savedPlans: Pick<SavedPlans, "ofCall" | "create" | "outdate" | "begin" | "end">;
}

/**
 * Creates the interceptor directly around the handlers of changes that the rules name. A call that needs approvals is refused with
 * the id of its plan. Once the plan is approved, the next identical call of the same caller applies it. Calls without a plan, which
 * change nothing or cannot be predicted, pass.
 */
export function createApproveCalls({ rules, plannerOf, savedPlans }: ApproveCallsOptions): InterceptorFor {
  /** Finds the plan of a call, or saves it. The caller's other plans of the same call no longer hold. */
  async function planOf(planned: PlannedCall, call: Call): Promise<SavedPlan> {
    const { plans, digest } = await savedPlans.ofCall(planned, call);
    const approved = plans.find((plan) => plan.requiredApprovals > 0 && plan.missingApprovals === 0);
    if (approved !== undefined) {
      return approved;
    }
    for (const plan of plans.filter((each) => each.digest !== digest)) {
      await savedPlans.outdate(plan.id, "the same call has another plan now");
    }
    return savedPlans.create(planned, call, true);
  }

  /** Applies the plan of a call, if it is approved. @throws InfraError APPROVAL_REQUIRED, PLAN_STALE, PLAN_USED, TOO_MANY_PLANS */
  async function apply(planned: PlannedCall, call: Call, next: () => Promise<Output>): Promise<Output> {
    const { id } = await planOf(planned, call);
    const { plan } = await savedPlans.begin(id, call);
    const attempt = createPlanAttempt(plan, savedPlans);
    call.limitTo(attempt.appliedPlan);
    let output: Output;
    try {
      output = await begun(await next());
    } catch (thrown) {
      if (call.method.methodKind !== "unary" && call.signal.aborted) {
        // The operation may begin after its caller has left. The plan stays as it is, and is not applied again.
        throw thrown;
      }
      throw await attempt.fail(thrown, call.operationId());
    }
    await attempt.succeed(call.operationId());
    return output;
  }

  /** Lets a call pass that needs no approval, as long as what it changes still needs none when its turn comes. */
  function pass(method: DescMethod, call: Call, next: () => Promise<Output>): Promise<Output> {
    call.limitTo({
      id: undefined,
      approvedBy: [],
      assertSame(mutation) {
        if (needsApproval(method, call, savedMutationFrom(mutation))) {
          const words = `${methodPathOf(method)} needs approval, since the system has changed meanwhile: repeat the call to get its plan`;
          throw new InfraError(planReasons.APPROVAL_REQUIRED, words, { effect: "none" });
        }
      },
    });
    return next();
  }

  function needsApproval(method: DescMethod, { caller }: Call, mutation: SavedMutation): boolean {
    return rules.requirementOf(method, caller, mutation).approvals > 0;
  }

  return (method, rule) => {
    const planner = plannerOf(method);
    if (!rule.mutation || planner === undefined || !rules.covers(method)) {
      return undefined;
    }
    return async (call, next) => {
      // ApplyPlan has checked the approvals.
      if (call.appliedPlan !== undefined || !rules.mayRequire(method, call.caller)) {
        return next();
      }
      const request = await call.input();
      let mutation: PlannedMutation;
      try {
        mutation = await planner(request, call);
      } catch {
        // The call itself is refused for the same reason, in its own form.
        return pass(method, call, next);
      }
      return needsApproval(method, call, savedMutationFrom(mutation))
        ? apply({ method, rule, request, mutation }, call, next)
        : pass(method, call, next);
    };
  };
}

/** Waits for the first message of a stream, which follows the beginning of its operation. */
async function begun(output: Output): Promise<Output> {
  if (!(Symbol.asyncIterator in output)) {
    return output;
  }
  const messages = output[Symbol.asyncIterator]();
  let first: Promise<IteratorResult<object>> | undefined = messages.next();
  await first;
  const stream: AsyncIterableIterator<object> = {
    next() {
      const message = first ?? messages.next();
      first = undefined;
      return message;
    },
    async return() {
      await messages.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => stream,
  };
  return stream;
}
