import { PlanService, SavedPlanSchema } from "../../../gen/hostplane/v1/plan_pb.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { parsePageSize } from "../../rpc/listing/listing-fields.ts";
import { pageTokenFrom, seqFromPageToken } from "../../rpc/listing/page-token.ts";
import { readPage } from "../../rpc/listing/read-page.ts";
import type { ApplyPlan } from "./apply-plan.ts";
import type { PlanCall } from "./plan-call.ts";
import { planMessage, savedPlanMessage } from "./plan-messages.ts";
import type { PlansOnHosts } from "./plan-on-hosts.ts";
import { planResource } from "./plan-stale.ts";
import { savedMutationFrom } from "./saved-mutation.ts";
import type { SavedPlans } from "./saved-plans.ts";

export interface PlanServiceOptions {
  readonly planCall: PlanCall;
  readonly onHosts: PlansOnHosts;
  readonly savedPlans: SavedPlans;
  readonly applyPlan: ApplyPlan;
}

/** Creates hostplane.v1.PlanService, which describes what a call would do, saves such plans, and applies them. */
export function createPlanService({
  planCall,
  onHosts,
  savedPlans,
  applyPlan,
}: PlanServiceOptions): ServiceRegistration {
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
      const plan = await savedPlans.create(await planCall.plan(method, request, call), call);
      call.noteResource(planResource(plan.id));
      return { plan: savedPlanMessage(plan) };
    },

    async getPlan({ id }, call) {
      call.noteResource(planResource(id));
      return { plan: savedPlanMessage(await savedPlans.get(id, call)) };
    },

    async listPlans({ pageSize, pageToken }, call) {
      const page = {
        seq: seqFromPageToken(pageToken, {}),
        pageSize: parsePageSize(pageSize),
        signal: call.signal,
      };
      const { rows, nextSeq } = await readPage(
        SavedPlanSchema,
        page,
        (belowSeq, limit) => savedPlans.list({ belowSeq, limit }, call),
        savedPlanMessage,
      );
      return { plans: [...rows], nextPageToken: nextSeq === undefined ? "" : pageTokenFrom(nextSeq, {}) };
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
        plan: savedPlanMessage(plan),
        ...(response?.json === undefined ? {} : { response: response.json }),
        ...(response === undefined ? {} : { responseBinary: response.binary }),
      };
    },
  });
}
