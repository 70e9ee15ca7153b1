import { randomUUID } from "node:crypto";
import {
  create,
  type JsonObject,
  type Message,
  type MessageInitShape,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import type { AppliedPlan } from "../../rpc/call/applied-plan.ts";
import type { Call, Output } from "../../rpc/call/call.ts";
import type { Exchange } from "../../rpc/call/exchange.ts";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import type { RoutedCall } from "../../rpc/call/routed-call.ts";
import type { Route } from "../../rpc/call/router.ts";
import { listenerRefusalOf } from "../../rpc/protocols/http/listener-services.ts";
import { assertSavable } from "./assert-savable.ts";
import { createPlanAttempt } from "./plan-attempt.ts";
import type { OpenedPlan, SavedPlan } from "./saved-plan.ts";
import type { SavedPlans } from "./saved-plans.ts";

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
 * @throws InfraError APPROVAL_REQUIRED, NOT_SAVABLE, PLAN_STALE, PLAN_NOT_FOUND, PLAN_USED, and the errors of the planned method. An error that has changed nothing
 * leaves the plan open
 */
export type ApplyPlan = (id: string, call: Call) => Promise<AppliedResult>;

/** @param options `routeOf`: finds the route of a method by its path; the plan's call takes it as a call from outside does */
export function createApplyPlan({ savedPlans, routeOf, log }: ApplyPlanOptions): ApplyPlan {
  return async (id, call) => {
    const opened = await savedPlans.begin(id, call);
    const attempt = createPlanAttempt(opened.plan, savedPlans);
    const route = routeOf(methodPathOf(opened.method));
    if (route === undefined) {
      throw await attempt.fail(new TypeError(`no route to ${methodPathOf(opened.method)}`), undefined);
    }
    const inner = route.begin(exchangeOf(route, opened, call, attempt.appliedPlan));
    let output: Output;
    try {
      output = await outputOf(route, inner, call, log);
    } catch (thrown) {
      throw await attempt.fail(thrown, inner.operationId());
    }
    const operationId = inner.operationId();
    if (operationId !== undefined) {
      call.noteOperation(operationId);
    }
    return { plan: await attempt.succeed(operationId), response: responseOf(route, output) };
  };
}

/** Headers of the call that applies the plan that the planned call does not have. */
const ownHeaders = /^(content-|connect-|grpc-|idempotency-key$)/;

/** Carries the planned call, with the credentials of the caller that applies the plan. */
function exchangeOf(
  { method }: Route,
  { request, lvmd }: OpenedPlan,
  call: Call,
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
  inner: RoutedCall,
  call: Call,
  log: ApplyPlanOptions["log"],
): Promise<Output> {
  let isStreaming = false;
  try {
    assertSavable(route);
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
