import { PlanService } from "../../../gen/hostplane/v1/plan_pb.ts";
import { defineGatewayDomain } from "../../domain/define-domain.ts";
import { fleetReasons } from "../../fleet/reasons.ts";
import { rpcReasons } from "../../rpc/reasons.ts";
import { planReasons } from "./reasons.ts";

/** Plans of the changes of all domains. */
export const planDomain = defineGatewayDomain({
  name: "plan",
  services: [
    // Plan also requires the role of the method that is planned.
    { service: PlanService, rules: { Plan: { role: "viewer", ofEveryService: true } } },
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
    const { createPlanService } = await import("./service.ts");
    const services = context.services.map(({ service }) => service);
    const planners = [...context.served.values()].flatMap((domain) => domain.planners);
    const { ruleOf, host: name } = context;
    const { hosts } = context.fleet;
    const hub = hosts && { name, hosts };
    const registration = createPlanService({ services, planners, ruleOf, hub });
    return { registrations: [registration], planners: [], backends: [] };
  },
});
