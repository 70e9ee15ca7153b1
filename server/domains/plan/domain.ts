import { PlanService } from "../../../gen/hostplane/v1/plan_pb.ts";
import { defineGatewayDomain } from "../../domain/define-domain.ts";
import { fleetReasons } from "../../fleet/reasons.ts";
import { rpcReasons } from "../../rpc/reasons.ts";
import { planReasons } from "./reasons.ts";

/** The methods concern the caller itself. Planning also requires the role of the method that is planned. */
const change = { role: "operator", ofEveryService: true } as const;
const read = { role: "viewer", ofEveryService: true, get: false, cache: false } as const;

const { PLAN_NOT_FOUND, PLAN_STALE, PLAN_USED } = planReasons;
const approvalReasons = [
  PLAN_NOT_FOUND,
  PLAN_STALE,
  PLAN_USED,
  planReasons.APPROVAL_NOT_ALLOWED,
  planReasons.APPROVAL_NOT_NEEDED,
];

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
        ApprovePlan: change,
        BreakGlass: { role: "admin" },
      },
      reasons: {
        CreatePlan: [planReasons.NOT_SAVABLE, planReasons.TOO_MANY_PLANS],
        GetPlan: [PLAN_NOT_FOUND],
        DeletePlan: [PLAN_NOT_FOUND],
        ApplyPlan: [
          PLAN_NOT_FOUND,
          PLAN_STALE,
          PLAN_USED,
          planReasons.NOT_SAVABLE,
          planReasons.APPROVAL_REQUIRED,
        ],
        ApprovePlan: approvalReasons,
        BreakGlass: approvalReasons,
      },
    },
  ],
  hasEvents: true,
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
