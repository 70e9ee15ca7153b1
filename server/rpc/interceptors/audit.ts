import type { ErrorCode } from "../../../adapters/host/define-reasons.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { storeReasons } from "../../store/reasons.ts";
import type { Call, Interceptor, Output } from "../call/call.ts";
import type { InterceptorFor } from "../call/method-interceptors.ts";
import { type MethodRule, methodPathOf } from "../call/method-rule.ts";
import { infraErrorFrom } from "../errors/connect-error.ts";
import { rpcReasons } from "../reasons.ts";
import { createRefusalSums, type RefusalSum } from "./refusal-sums.ts";
import { requestText } from "./request-text.ts";

/** Facts of a call that are known when it begins. */
export interface AuditedCall {
  readonly actor: string;
  readonly accountId: string;
  readonly credential: string;
  readonly address: string;
  readonly listener: string;
  readonly rpc: string;
  readonly requestId: string;
  /** Host of the fleet that the call was forwarded to; undefined if this gateway served it. */
  readonly fleetHost?: string | undefined;
  /** JSON without secrets; undefined if there is no single message. */
  readonly request: string | undefined;
}

/** How a call ended. */
export interface AuditedOutcome {
  readonly code: ErrorCode | "OK";
  readonly reason: string | undefined;
  readonly resource: string | undefined;
  /** The durable operation that the call started, found or changed. */
  readonly operationId: string | undefined;
  /** Host of the fleet on which the call was made, if that was only found out during the call. */
  readonly fleetHost?: string | undefined;
  /** The saved plan that the call has applied; undefined if there is none. */
  readonly planId?: string | undefined;
  /** Who has approved that plan, as actors. */
  readonly approvedBy?: readonly string[] | undefined;
}

/** A refused call, which represents all refusals with its caller, address and reason. */
export interface AuditedRefusal {
  readonly call: AuditedCall;
  readonly outcome: AuditedOutcome;
}

/** Storage of the audit log. An exception means that writing failed. */
export interface AuditPort {
  /** Writes a call, with its outcome if it is over. Resolves with a number for `end` once the row would survive a power cut. */
  add(call: AuditedCall, outcome: AuditedOutcome | undefined): Promise<number>;
  end(sequence: number, outcome: AuditedOutcome): Promise<void>;
  /** Adds refused calls to the rows of their keys for this minute. The row of `otherKeys` sums calls with different keys. */
  addRefusals(sums: readonly RefusalSum<AuditedRefusal>[]): Promise<void>;
  /** Called when a write fails that no call can be refused for. */
  onFailed(what: string, error: unknown): void;
}

export interface CallAudit {
  /** Goes around the whole chain except the log. Records calls that were refused before they began, and logins. */
  readonly interceptor: Interceptor;
  /** Goes after authorization, limits and headers. Records streams, from before they begin until their last message is sent. */
  readonly streamInterceptor: InterceptorFor;
  /**
   * Goes around the work of a unary call, where it continues after its caller has left. Records the work from before it begins
   * until it has ended, whatever its outcome.
   */
  readonly workInterceptor: InterceptorFor;
  /**
   * Goes after authorization, limits and headers of a call that is forwarded to a host of the fleet. Records it without its
   * request, which only the host reads.
   */
  readonly forwardedInterceptor: InterceptorFor;
  /** Waits for the recorded work to end, and writes what is still pending. */
  close(): Promise<void>;
}

/**
 * Records changes, and calls that return secrets, with their callers and outcomes. A call that cannot be recorded does not begin.
 * A record without an outcome means that the gateway died during the call. Calls that were refused because of their caller are
 * summed by caller, address, reason and minute. All other calls have no overhead.
 */
export function createCallAudit(port: AuditPort): CallAudit {
  const started = new WeakSet<Call>();
  const running = new Set<Promise<unknown>>();
  const sums = createRefusalSums<AuditedRefusal>(port.addRefusals, (error) =>
    port.onFailed("refused calls", error),
  );

  /** Refuses the call if its row cannot be written. Returns the function that completes the row. */
  async function begin(
    call: Call,
    isForwarded: boolean,
  ): Promise<(error: InfraError | undefined) => Promise<void>> {
    const isSingle = call.method.methodKind === "unary" || call.method.methodKind === "server_streaming";
    const isRead = isSingle && !isForwarded;
    const request = isRead ? requestText(call.method.input, await call.input()) : undefined;
    started.add(call);
    const sequence = await written(port.add(auditedCall(call, request), undefined));
    return async (error) => {
      try {
        await port.end(sequence, auditedOutcome(call, error));
      } catch (failure) {
        port.onFailed(`the outcome of ${call.requestId}`, failure);
      }
    };
  }

  async function record(call: Call, next: () => Promise<Output>, isForwarded = false): Promise<Output> {
    const end = await begin(call, isForwarded);
    try {
      // The caller may have left while the row was written.
      call.signal.throwIfAborted();
      const output = await next();
      if (Symbol.asyncIterator in output) {
        call.onStreamEnd(end);
      } else {
        await end(undefined);
      }
      return output;
    } catch (thrown) {
      await end(infraErrorFrom(thrown));
      throw thrown;
    }
  }

  async function recordRunning(
    call: Call,
    next: () => Promise<Output>,
    isForwarded = false,
  ): Promise<Output> {
    const work = record(call, next, isForwarded);
    running.add(work);
    try {
      return await work;
    } finally {
      running.delete(work);
    }
  }

  /** Also for a call for which no host was found, and which therefore names none. */
  const recordForwarded: Interceptor = (call, next) => recordRunning(call, next, true);

  async function noteRefusal(call: Call, error: InfraError): Promise<void> {
    // Pages such as the dashboard call GetCaller first, to find out whether there is a login.
    if (call.method === UserService.method.getCaller && error.is(rpcReasons.LOGIN_REQUIRED)) {
      return;
    }
    // Programs ask every few seconds; the login itself is recorded.
    if (error.is(rpcReasons.LOGIN_PENDING)) {
      return;
    }
    // Mistakes of callers who are not logged in are summed too; otherwise they could fill the disk.
    const isUnauthenticated = call.rule.mutation && call.caller.role === undefined;
    if (started.has(call) || !(isUnauthenticated || isRefusedForCaller(error) || call.rule.mutation)) {
      return;
    }
    const audited = auditedCall(call, undefined);
    const outcome = auditedOutcome(call, error);
    if (isUnauthenticated || isRefusedForCaller(error)) {
      // The key keeps refusals of different callers at one address apart.
      const key = JSON.stringify([audited.address, audited.actor, outcome.reason]);
      sums.add(key, { call: audited, outcome });
      return;
    }
    try {
      await port.add(audited, outcome);
    } catch (failure) {
      port.onFailed(`the refusal of ${call.requestId}`, failure);
    }
  }

  return {
    async interceptor(call, next) {
      let output: Output;
      try {
        output = await next();
      } catch (thrown) {
        await noteRefusal(call, infraErrorFrom(thrown));
        throw thrown;
      }
      // A login: its caller is only known at its end. Failed logins are summed.
      if (call.rule.mutation && call.rule.role === "anyone") {
        await written(port.add(auditedCall(call, undefined), auditedOutcome(call, undefined)));
      }
      return output;
    },
    streamInterceptor: ({ methodKind }, rule) =>
      methodKind !== "unary" && isRecorded(rule) ? record : undefined,
    workInterceptor: ({ methodKind }, rule) =>
      methodKind === "unary" && isRecorded(rule) ? recordRunning : undefined,
    forwardedInterceptor: (_method, rule) => (isRecorded(rule) ? recordForwarded : undefined),
    async close() {
      await Promise.allSettled(running);
      await sums.flush();
    },
  };
}

function isRecorded(rule: MethodRule): boolean {
  return (rule.mutation || rule.secrets) && rule.role !== "anyone";
}

function isRefusedForCaller(error: InfraError): boolean {
  return (
    error.code === "UNAUTHENTICATED" ||
    error.code === "PERMISSION_DENIED" ||
    error.is(rpcReasons.CALLER_LIMIT, rpcReasons.TOO_MANY_LOGINS)
  );
}

/** @throws InfraError STORE_UNAVAILABLE, SHUTTING_DOWN */
async function written<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (thrown) {
    if (infraErrorFrom(thrown).is(hostReasons.SHUTTING_DOWN)) {
      throw thrown;
    }
    const message = "the audit log cannot be written, so the call was refused";
    throw new InfraError(storeReasons.STORE_UNAVAILABLE, message, { cause: thrown, retryAfterMs: 1000 });
  }
}

function auditedCall(call: Call, request: string | undefined): AuditedCall {
  const { actor, accountId, credential } = call.caller;
  const { address, listener } = call.peer;
  const { requestId, fleetHost } = call;
  const rpc = methodPathOf(call.method);
  return { actor, accountId, credential, address, listener, rpc, requestId, fleetHost, request };
}

function auditedOutcome(call: Call, error: InfraError | undefined): AuditedOutcome {
  return {
    code: error?.code ?? "OK",
    reason: error?.reason,
    resource: call.resource() ?? error?.resource,
    operationId: call.operationId(),
    fleetHost: call.fleetHost,
    planId: call.appliedPlan?.id,
    approvedBy: call.appliedPlan?.approvedBy,
  };
}
