import { PlanService } from "../../../gen/hostplane/v1/plan_pb.ts";
import type { DomainContext, DomainServices } from "../../domain/domain-services.ts";
import { createAccessOf, registerAccess } from "../../rpc/access/method-access.ts";
import { startPurge } from "../../store/purge.ts";
import { createApplyPlan } from "./apply-plan.ts";
import { approvalMistakesOf, createApprovalRules } from "./approval-rules.ts";
import { createApproveCalls } from "./approve-calls.ts";
import { createCheckOperationPlan } from "./check-operation-plan.ts";
import { createPlanApprovals } from "./plan-approvals.ts";
import { createPlanCall, createPlannerOf, methodsByPath } from "./plan-call.ts";
import { createPlansOnHosts } from "./plan-on-hosts.ts";
import { createSavedPlans } from "./saved-plans.ts";
import { createPlanService } from "./service.ts";

/** The service checks the planned call, and shows a caller its own plans and those that it may approve. */
const planAccess = registerAccess(PlanService, {
  plan: "own",
  createPlan: "own",
  getPlan: "own",
  listPlans: "own",
  deletePlan: "own",
  applyPlan: "own",
  approvePlan: "own",
  breakGlass: "own",
});

/**
 * Creates the plans of all domains that are served so far.
 * @throws Error for a rule of `approvals` that names what has no plan
 */
export function servePlans(context: DomainContext): DomainServices {
  const { store, planSeal, planDigestKey, ruleOf, routeOf, log, approvalRules } = context;
  const methods = methodsByPath(context.services.map(({ service }) => service));
  const plannerOf = createPlannerOf([...context.served.values()].flatMap((domain) => domain.planners));
  const accessOf = createAccessOf([...context.served.values()].flatMap(({ access }) => access ?? []));
  const [mistake] = approvalMistakesOf(
    approvalRules,
    methods,
    (method) => ruleOf(method).mutation && plannerOf(method) !== undefined,
  );
  if (mistake !== undefined) {
    throw new Error(mistake);
  }
  const rules = createApprovalRules(approvalRules);
  const planCall = createPlanCall({ methods, plannerOf, ruleOf, accessOf });
  const savedPlans = createSavedPlans({
    store,
    seal: planSeal,
    digestKey: planDigestKey,
    methods,
    rules,
    mayCall: planCall.mayCall,
    visibilityOf: context.visibilityOf,
  });
  const applyPlan = createApplyPlan({ savedPlans, routeOf, log });
  const approvals = createPlanApprovals({ savedPlans, planCall, log });
  context.operations.checkPlansWith(createCheckOperationPlan({ savedPlans, plannerOf }));
  const { hosts } = context.fleet;
  const onHosts = createPlansOnHosts(hosts && { name: context.host, hosts });
  return {
    registrations: [createPlanService({ planCall, onHosts, savedPlans, applyPlan, approvals })],
    planners: [],
    access: [planAccess],
    backends: [],
    changeInterceptor: createApproveCalls({ rules, plannerOf, savedPlans }),
    beginSchedules() {
      const purge = startPurge(savedPlans.purge, (error) =>
        log.warn("expired plans could not be removed", error),
      );
      return { close: () => purge.stop() };
    },
  };
}
