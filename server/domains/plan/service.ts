import { PlanService, SavedPlanSchema } from "../../../gen/hostplane/v1/plan_pb.ts";
import type { Call } from "../../rpc/call/call.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { parsePageSize } from "../../rpc/listing/listing-fields.ts";
import { pageTokenFrom, seqFromPageToken } from "../../rpc/listing/page-token.ts";
import { readPage } from "../../rpc/listing/read-page.ts";
import type { ApplyPlan } from "./apply-plan.ts";
import { assertSavable } from "./assert-savable.ts";
import type { PlanApprovals } from "./plan-approvals.ts";
import type { PlanCall } from "./plan-call.ts";
import { planMessage, savedPlanMessage } from "./plan-messages.ts";
import type { PlansOnHosts } from "./plan-on-hosts.ts";
import { planResource } from "./plan-stale.ts";
import { savedMutationFrom } from "./saved-mutation.ts";
import type { SavedPlan } from "./saved-plan.ts";
import type { SavedPlans } from "./saved-plans.ts";

export interface PlanServiceOptions {
  readonly planCall: PlanCall;
  readonly onHosts: PlansOnHosts;
  readonly savedPlans: SavedPlans;
  readonly applyPlan: ApplyPlan;
  readonly approvals: PlanApprovals;
}

/** Creates hostplane.v1.PlanService, which describes what a call would do, saves such plans, has them approved, and applies them. */
export function createPlanService({
  planCall,
  onHosts,
  savedPlans,
  applyPlan,
  approvals,
}: PlanServiceOptions): ServiceRegistration {
  const messageOf = (plan: SavedPlan, call: Call) =>
    savedPlanMessage(plan, approvals.isApprovable(plan, call));

  return registerService(PlanService, {
    async plan(request, call) {
      const method = planCall.assertMethod(request, call);
      if (onHosts.has(method)) {
        return onHosts.plan(method, request, call);
      }
      const { mutation } = await planCall.plan(method, request, call);
      call.noteResource(mutation.resource);
      return planMessage(savedMutationFrom(mutation));
    },

    async createPlan(request, call) {
      const method = planCall.assertMethod(request, call);
      onHosts.assertHere(method);
      const planned = await planCall.plan(method, request, call);
      assertSavable(method);
      const plan = await savedPlans.create(planned, call);
      call.noteResource(planResource(plan.id));
      return { plan: messageOf(plan, call) };
    },

    async getPlan({ id }, call) {
      call.noteResource(planResource(id));
      return { plan: messageOf(await savedPlans.get(id, call), call) };
    },

    async listPlans({ pageSize, pageToken, waiting }, call) {
      const filter = waiting ? { waiting } : {};
      const page = {
        seq: seqFromPageToken(pageToken, filter),
        pageSize: parsePageSize(pageSize),
        signal: call.signal,
      };
      const { rows, nextSeq } = await readPage(
        SavedPlanSchema,
        page,
        (belowSeq, limit) => savedPlans.list({ belowSeq, limit, waiting }, call),
        (plan) => messageOf(plan, call),
      );
      return {
        plans: [...rows],
        nextPageToken: nextSeq === undefined ? "" : pageTokenFrom(nextSeq, filter),
      };
    },

    async deletePlan({ id }, call) {
      call.noteResource(planResource(id));
      await savedPlans.remove(id, call);
      return {};
    },

    async applyPlan({ id }, call) {
      call.noteResource(planResource(id));
      const { plan, response } = await applyPlan(id, call);
      return {
        plan: messageOf(plan, call),
        ...(response?.json === undefined ? {} : { response: response.json }),
        ...(response === undefined ? {} : { responseBinary: response.binary }),
      };
    },

    async approvePlan({ id }, call) {
      call.noteResource(planResource(id));
      return { plan: messageOf(await approvals.approve(id, call), call) };
    },

    async breakGlass({ id, reason }, call) {
      call.noteResource(planResource(id));
      return { plan: messageOf(await approvals.breakGlass(id, reason, call), call) };
    },
  });
}
