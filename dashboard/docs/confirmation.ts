import { errorNote } from "./answer-view.ts";
import type { CallableMethod } from "./callable-method.ts";
import { button, element } from "./element.ts";
import { type Plan, planNote } from "./plan-note.ts";
import { sendCall } from "./send-call.ts";

/**
 * Creates the question that comes before a change: the plan of exactly this request, where the gateway has one. A plan that fails
 * shows the error that the change itself would have, and offers no change.
 * @throws TypeError when the gateway cannot be reached
 */
export async function createConfirmation(
  method: CallableMethod,
  request: string,
  onConfirm: () => void,
  onCancel: () => void,
): Promise<HTMLElement> {
  const cancel = button("Cancel", onCancel);
  if (!method.hasPlan) {
    const warning = element("p", {}, `${method.name} changes something, and has no plan. Send it?`);
    return question(
      [element("div", { className: "note warn" }, warning)],
      [confirm(method, "primary", onConfirm), cancel],
    );
  }
  const plan = await readPlan(method, request);
  if (plan instanceof HTMLElement) {
    return question([element("p", {}, "The plan failed, as the call would:"), plan], [cancel]);
  }
  const style = (plan.losses ?? []).length > 0 ? "danger" : "primary";
  return question([planNote(plan)], [confirm(method, style, onConfirm), cancel]);
}

function confirm({ name }: CallableMethod, style: string, onConfirm: () => void): HTMLButtonElement {
  return button(`Send ${name}`, onConfirm, style);
}

function question(content: readonly Node[], buttons: readonly Node[]): HTMLElement {
  const row = element("div", { className: "row" }, ...buttons);
  return element("div", { role: "group", "aria-label": "Confirm the change", tabIndex: -1 }, ...content, row);
}

/** @returns the plan, or the error shown */
async function readPlan({ path }: CallableMethod, request: string): Promise<Plan | HTMLElement> {
  let answer = "";
  const call = {
    method: "hostplane.v1.PlanService/Plan",
    // The request as it was typed: parsing would round its large numbers.
    request: `{"method":${JSON.stringify(path)},"json":${request}}`,
    isStream: false,
  };
  const { error } = await sendCall(call, (json) => {
    answer = json;
  });
  return error === undefined ? (JSON.parse(answer) as Plan) : errorNote(error);
}
