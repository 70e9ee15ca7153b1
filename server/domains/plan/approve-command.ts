import { PlanService, type SavedPlan } from "../../../gen/hostplane/v1/plan_pb.ts";
import { change, type Noun } from "../../cli/table/command.ts";
import { argument, nameOf, nonEmpty, option } from "../../cli/table/parameter.ts";
import type { Session } from "../../cli/table/session.ts";
import { plans, savedPlanView } from "./commands.ts";

const parameters = {
  id: argument("plan id, or a prefix of it", nameOf("id", plans)),
  breakGlass: option(
    "at the admin socket: let the plan be applied without the missing approvals, for this reason",
    nonEmpty("reason", "a reason"),
  ),
};

const breakGlass = change({
  name: "",
  summary: "let a saved plan be applied without the missing approvals",
  parameters,
  method: PlanService.method.breakGlass,
  destroys: true,
  isPlannable: false,
  preview: planLines,
  request: ({ id, breakGlass: reason = "" }) => ({ id, reason }),
  done: ({ plan }, { id }) =>
    `the plan ${id} of ${plan?.actor ?? ""} can be applied; this is in the audit log`,
});

/** Approves saved plans. */
export const approveNoun: Noun = {
  commands: [
    change({
      name: "",
      summary: "approve a saved plan of another caller, after it was shown",
      parameters,
      method: PlanService.method.approvePlan,
      destroys: true,
      isPlannable: false,
      preview: planLines,
      request: ({ id }) => ({ id }),
      instead: (values) => (values.breakGlass === undefined ? undefined : breakGlass),
      done: ({ plan }, { id }) => `approved the plan ${id}: ${plan === undefined ? "" : nextStep(plan)}`,
    }),
  ],
};

/** Returns the plan as it is shown before the question. */
async function planLines(session: Session, { id }: { readonly id: string }): Promise<readonly string[]> {
  const { message } = await session.call(PlanService.method.getPlan, { id });
  const { plan } = message;
  if (plan === undefined) {
    return [];
  }
  const { lines = [] } = savedPlanView(plan);
  return [`${plan.actor} wants to call ${plan.method} with ${JSON.stringify(plan.request ?? {})}`, ...lines];
}

function nextStep({ actor, missingApprovals: missing }: SavedPlan): string {
  return missing === 0
    ? `${actor} can make the change`
    : `${missing} more approval${missing === 1 ? " is" : "s are"} missing`;
}
