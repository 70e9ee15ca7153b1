import { PlanService } from "../../../gen/hostplane/v1/plan_pb.ts";
import { defineGatewayDomain } from "../../domain/define-domain.ts";
import { fleetReasons } from "../../fleet/reasons.ts";
import { rpcReasons } from "../../rpc/reasons.ts";
import { planReasons } from "./reasons.ts";

/** The methods concern the caller itself. Planning also requires the role of the method that is planned. */
const change = { role: "operator", ofEveryService: true } as const;
const read = { role: "viewer", ofEveryService: true, get: false, cache: false } as const;

/** Plans of the changes of all domains. */
export const planDomain = defineGatewayDomain({
  name: "plan",
  services: [
    {
      service: PlanService,
      rules: {
        Plan: { role: "viewer", ofEveryService: true },
        CreatePlan: change,
        GetPlan: read,
        ListPlans: read,
        DeletePlan: change,
        ApplyPlan: { ...change, idempotencyField: "id" },
      },
      reasons: {
        CreatePlan: [planReasons.NOT_SAVABLE, planReasons.TOO_MANY_PLANS],
        GetPlan: [planReasons.PLAN_NOT_FOUND],
        DeletePlan: [planReasons.PLAN_NOT_FOUND],
        ApplyPlan: [planReasons.PLAN_NOT_FOUND, planReasons.PLAN_STALE, planReasons.PLAN_USED],
      },
    },
  ],
  reasons: {
    tables: [planReasons],
    every: [
      planReasons.NOT_PLANNABLE,
      rpcReasons.ROLE_REQUIRED,
      fleetReasons.HOST_REQUIRED,
      fleetReasons.NOT_ON_HOSTS,
    ],
  },
  async serve(context) {
    const { servePlans } = await import("./serve.ts");
    return servePlans(context);
  },
});
