import type { DomainContext, DomainServices } from "../../domain/domain-services.ts";
import { startPurge } from "../../store/purge.ts";
import { createApplyPlan } from "./apply-plan.ts";
import { createCheckOperationPlan } from "./check-operation-plan.ts";
import { createPlanCall, createPlannerOf, methodsByPath } from "./plan-call.ts";
import { createPlansOnHosts } from "./plan-on-hosts.ts";
import { createSavedPlans } from "./saved-plans.ts";
import { createPlanService } from "./service.ts";

/** Creates the plans of all domains that are served so far. */
export function servePlans(context: DomainContext): DomainServices {
  const { store, planSeal, planDigestKey, ruleOf, routeOf, log } = context;
  const methods = methodsByPath(context.services.map(({ service }) => service));
  const plannerOf = createPlannerOf([...context.served.values()].flatMap((domain) => domain.planners));
  const planCall = createPlanCall({ methods, plannerOf, ruleOf });
  const savedPlans = createSavedPlans({ store, seal: planSeal, digestKey: planDigestKey, methods });
  const applyPlan = createApplyPlan({ savedPlans, routeOf, log });
  context.operations.checkPlansWith(createCheckOperationPlan({ savedPlans, plannerOf }));
  const { hosts } = context.fleet;
  const onHosts = createPlansOnHosts(hosts && { name: context.host, hosts });
  return {
    registrations: [createPlanService({ planCall, onHosts, savedPlans, applyPlan })],
    planners: [],
    backends: [],
    beginSchedules() {
      const purge = startPurge(savedPlans.purge, (error) =>
        log.warn("expired plans could not be removed", error),
      );
      return { close: () => purge.stop() };
    },
  };
}
