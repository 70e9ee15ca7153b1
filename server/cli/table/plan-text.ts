import type { PlanResponse } from "../../../gen/hostplane/v1/plan_pb.ts";
import { shellCommand } from "./operation-text.ts";
import { printableLine } from "./printable-line.ts";

/** Formats a plan: what it changes, what is lost, the steps with their commands, and what it is based on. */
export function planLines({
  kind,
  resource,
  changes,
  losses,
  steps,
  pointOfNoReturn,
  facts,
}: PlanResponse): readonly string[] {
  const numbered = steps.flatMap(({ name, command }, index) => [
    `  ${index + 1}. ${name}${index === pointOfNoReturn && index > 0 ? " (cannot be undone from here on)" : ""}`,
    ...(command.length === 0 ? [] : [`       ${shellCommand(command)}`]),
  ]);
  return [
    `plan: ${kind} of ${resource}`,
    ...changes.map((change) => `  change: ${change}`),
    ...losses.map((loss) => `  LOST: ${loss}`),
    ...(numbered.length === 0 ? [] : ["steps:", ...numbered]),
    ...(facts.length === 0 ? [] : ["based on:"]),
    ...facts.map((fact) => `  ${fact.resource} ${fact.name}: ${fact.value}`),
  ].map(printableLine);
}
