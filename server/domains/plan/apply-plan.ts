import { randomUUID } from "node:crypto";
import {
  create,
  type JsonObject,
  type Message,
  type MessageInitShape,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import type { InfraError } from "../../../adapters/host/infra-error.ts";
import type { AppliedPlan } from "../../rpc/call/applied-plan.ts";
import type { Call, Output } from "../../rpc/call/call.ts";
import type { Exchange } from "../../rpc/call/exchange.ts";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import type { RoutedCall } from "../../rpc/call/routed-call.ts";
import type { Route } from "../../rpc/call/router.ts";
import { infraErrorFrom } from "../../rpc/errors/connect-error.ts";
import { listenerRefusalOf } from "../../rpc/protocols/http/listener-services.ts";
import { planDifferences } from "./plan-differences.ts";
import { isRefusal, planStale } from "./plan-stale.ts";
import { savedMutationFrom } from "./saved-mutation.ts";
import type { OpenedPlan, SavedPlan, SavedPlans } from "./saved-plans.ts";

export interface ApplyPlanOptions {
  readonly savedPlans: Pick<SavedPlans, "begin" | "end">;
  /** Returns the route of a method, by its full name. */
  readonly routeOf: (methodPath: string) => Route | undefined;
  readonly log: { warn(message: string, cause?: unknown): void };
}

/** A plan that was applied. */
export interface AppliedResult {
  readonly plan: SavedPlan;
  /** The response of a unary method; undefined for a stream. */
  readonly response: { readonly json: JsonObject | undefined; readonly binary: Uint8Array } | undefined;
}

/**
 * Makes the call of a saved plan, as another call of the same caller: it has its own line in the log and in the audit log.
 * @throws InfraError PLAN_STALE, PLAN_NOT_FOUND, PLAN_USED, and the errors of the planned method. An error that has changed nothing
 * leaves the plan open
 */
export type ApplyPlan = (id: string, call: Call) => Promise<AppliedResult>;

export function createApplyPlan({ savedPlans, routeOf, log }: ApplyPlanOptions): ApplyPlan {
  /** Records that the plan is stale. Returns the error. */
  async function ended(id: string, because: string, cause?: unknown): Promise<InfraError> {
    await savedPlans.end(id, { state: "stale", because });
    return planStale(id, because, cause);
  }

  /** Returns the error to report after the planned call has failed, and records what has become of the plan. */
  async function afterFailure(id: string, attempt: Attempt, thrown: unknown): Promise<InfraError> {
    const error = infraErrorFrom(thrown);
    if (attempt.differences !== "") {
      return ended(id, attempt.differences);
    }
    const operationId = attempt.inner.operationId();
    const effect = error.effect ?? (operationId === undefined ? "none" : "possible");
    // Also after the comparison: the system itself may have moved before the first command.
    if (effect === "none" && isRefusal(error)) {
      return ended(id, error.message, error);
    }
    await savedPlans.end(id, effect === "none" ? { state: "open" } : { state: "applied", operationId });
    return error.withEffect(effect);
  }

  return async (id, call) => {
    const opened = await savedPlans.begin(id, call);
    const route = routeOf(methodPathOf(opened.method));
    if (route === undefined) {
      throw await ended(id, `this version of the gateway has no ${methodPathOf(opened.method)}`);
    }
    const attempt = beginAttempt(opened, route, call);
    let output: Output;
    try {
      output = await outputOf(route, attempt, call, log);
    } catch (thrown) {
      throw await afterFailure(id, attempt, thrown);
    }
    const { inner } = attempt;
    const operationId = inner.operationId();
    if (operationId !== undefined) {
      call.noteOperation(operationId);
    }
    if (!attempt.isSame) {
      throw await ended(id, "the call would change nothing");
    }
    const plan = await savedPlans.end(id, { state: "applied", operationId });
    return { plan: plan ?? opened.plan, response: responseOf(route, output) };
  };
}

/** One run of the planned call. */
interface Attempt {
  readonly inner: RoutedCall;
  /** Whether the call was compared with the plan, and does the same. */
  isSame: boolean;
  /** What differs; empty before the comparison. */
  differences: string;
}

function beginAttempt({ plan, request, lvmd }: OpenedPlan, route: Route, call: Call): Attempt {
  const state = { isSame: false, differences: "" };
  const appliedPlan: AppliedPlan = {
    id: plan.id,
    assertSame(mutation) {
      state.differences = planDifferences(plan.mutation, savedMutationFrom(mutation));
      if (state.differences !== "") {
        throw planStale(plan.id, state.differences);
      }
      state.isSame = true;
    },
  };
  const exchange = exchangeOf(route, request, call, lvmd, appliedPlan);
  return Object.assign(state, { inner: route.begin(exchange) });
}

/** Headers of the call that applies the plan that the planned call does not have. */
const ownHeaders = /^(content-|connect-|grpc-|idempotency-key$)/;

/** Carries the planned call, with the credentials of the caller that applies the plan. */
function exchangeOf(
  { method }: Route,
  request: Message,
  call: Call,
  lvmd: OpenedPlan["lvmd"],
  appliedPlan: AppliedPlan,
): Exchange {
  return {
    method,
    protocol: "connect",
    codec: "binary",
    facts: { peer: { ...call.peer, lvmd }, requestId: randomUUID(), appliedPlan },
    header: (name) => (ownHeaders.test(name) ? undefined : call.header(name)),
    headerNames: () => [...call.headerNames()].filter((name) => !ownHeaders.test(name)),
    setHeader() {},
    appendHeader() {},
    appendTrailer() {},
    timeLeftMs: () => undefined,
    readInput: async () => request,
  };
}

/** Makes the call. Of a stream it returns the first message, which follows the beginning of the operation. */
async function outputOf(
  route: Route,
  { inner }: Attempt,
  call: Call,
  log: ApplyPlanOptions["log"],
): Promise<Output> {
  let isStreaming = false;
  try {
    const refusal = listenerRefusalOf(route.method.parent, call.peer.listener, call.peer.services);
    if (refusal !== undefined) {
      throw refusal;
    }
    const output = await route.run(inner);
    if (!(Symbol.asyncIterator in output)) {
      return output;
    }
    const messages = output[Symbol.asyncIterator]();
    const first = await messages.next();
    isStreaming = first.done !== true;
    if (isStreaming) {
      // To its end, which the audit log records.
      void untilEnd(messages)
        .catch((error: unknown) => log.warn(`the progress of ${methodPathOf(route.method)} ended`, error))
        .finally(() => inner.close());
    }
    return {};
  } finally {
    if (!isStreaming) {
      inner.close();
    }
  }
}

async function untilEnd(messages: AsyncIterator<object>): Promise<void> {
  let next = await messages.next();
  while (next.done !== true) {
    next = await messages.next();
  }
}

function responseOf({ method }: Route, output: Output): AppliedResult["response"] {
  if (method.methodKind !== "unary") {
    return undefined;
  }
  const message = create(method.output, output as MessageInitShape<typeof method.output>);
  return { json: jsonOf(method.output, message), binary: toBinary(method.output, message) };
}

/** Returns undefined for a message without a JSON form, such as a timestamp in the year 10,000. */
function jsonOf(type: Route["method"]["output"], message: Message): JsonObject | undefined {
  try {
    return toJson(type, message) as JsonObject;
  } catch {
    return undefined;
  }
}
