import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import type { Call } from "../../rpc/call/call.ts";
import { type CallerCeiling, callerKindOf } from "../../rpc/call/caller.ts";
import { assertResourcesGranted } from "../../rpc/interceptors/granted-resources.ts";
import type { PlanCall, PlannedMethod } from "./plan-call.ts";
import { planResource, planStale } from "./plan-stale.ts";
import { planReasons } from "./reasons.ts";
import { isProposer, planNotFound, planUsed, type SavedPlan } from "./saved-plan.ts";
import type { SavedPlans } from "./saved-plans.ts";
import { personOf } from "./store/plan-record.ts";

/** Approvals of saved plans. */
export interface PlanApprovals {
  /** Reports whether a plan waits for an approval that the caller may give. */
  isApprovable(plan: SavedPlan, call: Call): boolean;
  /** @throws InfraError PLAN_NOT_FOUND, APPROVAL_NOT_ALLOWED, APPROVAL_NOT_NEEDED, PLAN_USED, PLAN_STALE, and those of a caller that
   * may not call the method */
  approve(id: string, call: Call): Promise<SavedPlan>;
  /** @throws InfraError as `approve`, and INVALID_FIELD */
  breakGlass(id: string, reason: string, call: Call): Promise<SavedPlan>;
}

export interface PlanApprovalsOptions {
  readonly savedPlans: Pick<SavedPlans, "get" | "approve" | "requestOf">;
  readonly planCall: Pick<PlanCall, "assertMethod" | "assertGranted">;
  readonly log: { warn(message: string): void };
}

const reasonMaxLength = 500;

/** @param options `log`: each use of BreakGlass is a warning */
export function createPlanApprovals({ savedPlans, planCall, log }: PlanApprovalsOptions): PlanApprovals {
  /** @throws InfraError as `approve` */
  function assertApprovable(plan: SavedPlan): void {
    if (plan.state === "stale") {
      throw planStale(plan.id, plan.staleBecause);
    }
    if (plan.state !== "open") {
      throw planUsed(plan);
    }
    if (plan.requiredApprovals === 0) {
      const words = `the plan ${plan.id} needs no approval`;
      throw new InfraError(planReasons.APPROVAL_NOT_NEEDED, words, { resource: planResource(plan.id) });
    }
  }

  /** @throws InfraError APPROVAL_NOT_ALLOWED, and those of a caller that may not call the method */
  function assertApprover(plan: SavedPlan, call: Call): PlannedMethod {
    if (isProposer(plan, call)) {
      throw notAllowed(plan, `${call.caller.actor} proposed it, so another person has to approve it`);
    }
    if (callerKindOf(call.caller) !== "person") {
      throw notAllowed(plan, `only users can approve it, and ${call.caller.actor} is not a user`);
    }
    const planned = planCall.assertMethod({ method: plan.method }, call);
    assertResourcesGranted({ caller: call.caller, ...planned }, [plan.mutation.resource]);
    assertBelowCeiling(plan, call.caller.ceiling);
    return planned;
  }

  /** A request may also touch others than the resource that the plan names. @throws InfraError PLAN_NOT_FOUND, NOT_GRANTED */
  async function assertRequestGranted({ id }: SavedPlan, planned: PlannedMethod, call: Call): Promise<void> {
    const saved = await savedPlans.requestOf(id);
    if (saved === undefined) {
      throw planNotFound(id);
    }
    await planCall.assertGranted(planned, saved.request, call);
  }

  /** Records an approval. The plan may have been applied since it was read. */
  async function record(plan: SavedPlan, call: Call, breakGlassReason?: string): Promise<SavedPlan> {
    const { actor, accountId } = call.caller;
    const approval = { id: plan.id, account: accountId, actor, breakGlassReason };
    const approved = await savedPlans.approve(approval);
    assertApprovable(approved);
    return approved;
  }

  return {
    isApprovable(plan, call) {
      const { actor, accountId } = call.caller;
      const hasApproved = plan.approvals.some(
        (each) => each.account === accountId || personOf(each.actor) === personOf(actor),
      );
      if (plan.missingApprovals === 0 || hasApproved) {
        return false;
      }
      try {
        assertApprovable(plan);
        assertApprover(plan, call);
        return true;
      } catch {
        return false;
      }
    },

    async approve(id, call) {
      const plan = await savedPlans.get(id, call);
      const planned = assertApprover(plan, call);
      assertApprovable(plan);
      await assertRequestGranted(plan, planned, call);
      return record(plan, call);
    },

    async breakGlass(id, reason, call) {
      if (reason.trim() === "" || reason.length > reasonMaxLength) {
        throw invalidField("reason", `must have 1 to ${reasonMaxLength} characters, has ${reason.length}`);
      }
      const plan = await savedPlans.get(id, call);
      if (call.caller.credential !== "adminSocket") {
        throw notAllowed(plan, "the glass can be broken only at the admin socket of this gateway");
      }
      assertApprovable(plan);
      const broken = await record(plan, call, reason);
      log.warn(
        `the glass was broken for the plan ${id} of ${plan.actor}, ${plan.method} of ${plan.mutation.resource}: ${JSON.stringify(reason)}`,
      );
      return broken;
    },
  };
}

/** Of a plan for several resources, each is compared. @throws InfraError BEYOND_CEILING */
function assertBelowCeiling({ mutation }: SavedPlan, ceiling: CallerCeiling | undefined): void {
  const parts = mutation.facts.filter(({ resource }) => resource.startsWith(`${mutation.resource}/`));
  for (const resource of new Set([mutation.resource, ...parts.map((fact) => fact.resource)])) {
    ceiling?.assertResource(resource);
  }
}

function notAllowed({ id }: SavedPlan, why: string): InfraError {
  const words = `the plan ${id} was not approved: ${why}`;
  return new InfraError(planReasons.APPROVAL_NOT_ALLOWED, words, { resource: planResource(id) });
}
