import { create } from "@bufbuild/protobuf";
import { type PlanResponse, PlanResponseSchema } from "../../gen/hostplane/v1/plan_pb.ts";
import { client } from "../session.ts";
import type { Action } from "./action.ts";

/** Plans at a time, so that a plan of many changes leaves the gateway room for others. */
const parallel = 4;

/** The plan of one or several changes together. */
export interface JointPlan {
  readonly plan: PlanResponse;
  /** Changes that the gateway refuses, with its error. */
  readonly refused: readonly { readonly action: Action; readonly error: unknown }[];
}

/** Plans all changes; a change that is refused does not stop the others. */
export async function readPlan(actions: readonly Action[]): Promise<JointPlan> {
  const plans: PlanResponse[] = [];
  const refused: { action: Action; error: unknown }[] = [];
  const waiting = actions.filter(({ hasPlan }) => hasPlan);
  const total = waiting.length;
  const next = async (): Promise<void> => {
    for (let action = waiting.shift(); action !== undefined; action = waiting.shift()) {
      try {
        plans.push(await client.plan(action.method, action.request));
      } catch (error) {
        refused.push({ action, error });
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, next));
  const [only] = plans;
  return { plan: only !== undefined && total === 1 ? only : joined(plans), refused };
}

function joined(plans: readonly PlanResponse[]): PlanResponse {
  const steps = plans.flatMap(({ resource, steps: own }) =>
    own.map((step) => ({ ...step, name: `${resource.split("/").at(-1)}: ${step.name}` })),
  );
  return create(PlanResponseSchema, {
    changes: plans.flatMap(({ changes }) => changes),
    losses: plans.flatMap(({ losses }) => losses),
    steps,
    pointOfNoReturn: steps.length,
  });
}
