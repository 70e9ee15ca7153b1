import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { JsonObject } from "@bufbuild/protobuf";
import {
  PlanResponseSchema,
  PlanService,
  type SavedPlan,
  SavedPlanSchema,
  SavedPlanStateSchema,
} from "../../../gen/hostplane/v1/plan_pb.ts";
import { change, list, type Noun, show } from "../../cli/table/command.ts";
import { enumText } from "../../cli/table/enum-text.ts";
import { followOperation } from "../../cli/table/follow-operation.ts";
import { argument, file, flag, nameOf, optionalArgument, word } from "../../cli/table/parameter.ts";
import { planLines } from "../../cli/table/plan-text.ts";
import { type Reference, uuid } from "../../cli/table/reference.ts";
import { timeText } from "../../cli/table/time-text.ts";
import { UsageError } from "../../cli/table/usage-error.ts";
import type { View } from "../../cli/table/view.ts";

/** Saved plans that the caller sees. */
export const plans: Reference = {
  noun: "plan",
  fullId: uuid,
  async list(session) {
    const { message } = await session.call(PlanService.method.listPlans, { pageSize: 1000 });
    return message.plans.map(({ id }) => ({ id, names: [] }));
  },
};

const id = argument("plan id, or a prefix of it", nameOf("id", plans));

/** The call that is planned. */
const call = {
  method: argument("full name of the RPC, such as proto.LVService/RemoveLV", word("method")),
  request: optionalArgument("file with the request as JSON; - for stdin (default: an empty one)", file),
};

/** Plans of any RPC. */
export const planNoun: Noun = {
  reference: plans,
  commands: [
    show({
      name: "",
      summary: "print what a call would change or lose, and its commands; changes nothing",
      parameters: call,
      method: PlanService.method.plan,
      request: plannedCallFrom,
      schema: PlanResponseSchema,
      item: (response) => response,
      id: (item) => item.resource,
      view: (item) => ({ lines: planLines(item) }),
    }),
    show({
      name: "create",
      summary: "plan a call, and save the plan for 24 hours",
      isPlannable: false,
      parameters: call,
      method: PlanService.method.createPlan,
      request: plannedCallFrom,
      schema: SavedPlanSchema,
      item: (response) => response.plan,
      view: savedPlanView,
    }),
    list({
      name: "list",
      summary:
        "list your saved plans, and those that you may approve, newest first; an admin's list has all plans",
      parameters: { waiting: flag("only plans that wait for an approval") },
      method: PlanService.method.listPlans,
      schema: SavedPlanSchema,
      items: (response) => response.plans,
      columns: {
        ID: "id",
        KIND: ({ plan }) => plan?.kind ?? "",
        RESOURCE: ({ plan }) => plan?.resource ?? "",
        STATE: ({ state }) => enumText(SavedPlanStateSchema, state),
        APPROVALS: approvalCount,
        ACTOR: "actor",
        EXPIRES: "expiresAt",
      },
      optionalColumns: ["APPROVALS"],
    }),
    show({
      name: "show",
      summary: "show a saved plan",
      parameters: { id },
      method: PlanService.method.getPlan,
      schema: SavedPlanSchema,
      item: (response) => response.plan,
      view: savedPlanView,
    }),
    change({
      name: "apply",
      summary: "make the call of a saved plan, exactly as planned, or fail if anything has changed",
      isPlannable: false,
      parameters: { id },
      method: PlanService.method.applyPlan,
      done: ({ plan }, values) =>
        plan === undefined || plan.operationIds.length === 0
          ? `applied the plan ${values.id}`
          : `applied the plan ${values.id}: operation ${plan.operationIds.join(", ")}`,
      follow: async (session, values, printer) => {
        const { message } = await session.call(PlanService.method.getPlan, { id: values.id });
        let hasSucceeded = true;
        for (const operationId of message.plan?.operationIds ?? []) {
          hasSucceeded = (await followOperation(session, operationId, printer)) && hasSucceeded;
        }
        return hasSucceeded;
      },
    }),
    change({
      name: "delete",
      summary: "delete a saved plan",
      isPlannable: false,
      parameters: { id },
      method: PlanService.method.deletePlan,
      done: (_response, values) => `deleted the plan ${values.id}`,
    }),
  ],
};

/** Formats a saved plan. */
export function savedPlanView({ plan, ...saved }: SavedPlan): View {
  const facts: [string, string][] = [
    ["id", saved.id],
    ["method", saved.method],
    ["request", JSON.stringify(saved.request ?? {})],
    ["digest", saved.digest],
    ["state", enumText(SavedPlanStateSchema, saved.state)],
    ["stale because", saved.staleBecause],
    ["approvals", approvalText(saved)],
    ["operations", saved.operationIds.join(", ")],
    ["actor", saved.actor],
    ["created", timeText(saved.createdAt)],
    ["expires", timeText(saved.expiresAt)],
  ];
  return { lines: plan === undefined ? [] : planLines(plan), facts };
}

type Approvals = Pick<SavedPlan, "requiredApprovals" | "missingApprovals" | "approvals">;

function approvalCount({ requiredApprovals: required, missingApprovals: missing }: Approvals): string {
  return required === 0 ? "" : `${required - missing} of ${required}`;
}

function approvalText(plan: Approvals): string {
  const given = plan.approvals.map(({ actor, at, breakGlassReason }) => {
    const why = breakGlassReason === "" ? "" : `, who broke the glass: ${JSON.stringify(breakGlassReason)}`;
    return `${actor} at ${timeText(at)}${why}`;
  });
  return [approvalCount(plan), ...given].filter((text) => text !== "").join("; ");
}

async function plannedCallFrom({
  method,
  request,
}: {
  readonly method: string;
  readonly request?: string | undefined;
}) {
  return { method, request: { case: "json" as const, value: await requestFrom(request) } };
}

async function requestFrom(source: string | undefined): Promise<JsonObject> {
  if (source === undefined) {
    return {};
  }
  const json = source === "-" ? await text(process.stdin) : await readFile(source, "utf8");
  try {
    return JSON.parse(json) as JsonObject;
  } catch (cause) {
    throw new UsageError(`${source}: the request is not JSON`, { cause });
  }
}
