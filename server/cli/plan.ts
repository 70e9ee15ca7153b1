import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type PlanResponse, PlanResponseSchema, PlanService } from "../../gen/hostplane/v1/plan_pb.ts";
import type { Method } from "./table/command.ts";
import { jsonOfMessage } from "./table/message-json.ts";
import { planLines } from "./table/plan-text.ts";
import type { Printer } from "./table/printer.ts";
import type { Session } from "./table/session.ts";
import { confirms } from "./terminal.ts";

/** Returns what the call would do. @throws ConnectError when the call would be refused, or cannot be planned */
export async function planOf(session: Session, method: Method, request: object): Promise<PlanResponse> {
  const input: DescMessage = method.input;
  const binary = toBinary(input, create(input, request as MessageInitShape<DescMessage>));
  const path = `${method.parent.typeName}/${method.name}`;
  const answer = await session.call(PlanService.method.plan, {
    method: path,
    request: { case: "binary", value: binary },
  });
  return answer.message;
}

/** Prints a plan: what would change and be lost, and the commands. */
export function printPlan(plan: PlanResponse, printer: Printer): void {
  if (printer.format === "json" || printer.format === "yaml") {
    printer.document(jsonOfMessage(PlanResponseSchema, plan));
    return;
  }
  for (const line of printer.format === "name" ? [plan.resource] : planLines(plan)) {
    printer.out(line);
  }
}

/** Shows what a change does, and asks. Returns whether the answer is yes. */
export async function confirmChange(lines: readonly string[], printer: Printer): Promise<boolean> {
  for (const line of lines) {
    process.stderr.write(`${line}\n`);
  }
  const isConfirmed = await confirms("Continue?");
  if (!isConfirmed) {
    printer.err("not confirmed; nothing was changed");
  }
  return isConfirmed;
}

/**
 * Shows the plans of a change on several hosts, and asks once. Returns whether the answer is yes.
 * @param plans by the names of the hosts; undefined for a change without a plan
 */
export async function confirmOnHosts(
  plans: readonly (readonly [host: string, plan: PlanResponse | undefined])[],
  printer: Printer,
): Promise<boolean> {
  for (const [host, plan] of plans) {
    for (const line of plan === undefined ? ["no plan"] : planLines(plan)) {
      process.stderr.write(`${host}: ${line}\n`);
    }
  }
  const isConfirmed = await confirms(
    `Continue on ${plans.length === 1 ? "this host" : `these ${plans.length} hosts`}?`,
  );
  if (!isConfirmed) {
    printer.err("not confirmed; nothing was changed");
  }
  return isConfirmed;
}

/** Returns the plan of a call as lines; none if the change has no plan. @throws ConnectError when the call would be refused */
export async function planLinesOf(
  session: Session,
  method: Method | undefined,
  request: object,
): Promise<readonly string[]> {
  const plan = method && (await planIfPossible(session, method, request));
  return plan === undefined ? [] : planLines(plan);
}

/** Returns the plan of a call; undefined if the change has none. @throws ConnectError when the call would be refused */
export async function planIfPossible(
  session: Session,
  method: Method,
  request: object,
): Promise<PlanResponse | undefined> {
  try {
    return await planOf(session, method, request);
  } catch (error) {
    // Some changes cannot be planned; others are refused, as the change would be.
    if (error instanceof ConnectError && error.code === Code.Unimplemented) {
      return undefined;
    }
    throw error;
  }
}
