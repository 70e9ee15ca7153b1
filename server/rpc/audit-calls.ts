import { type DescMessage, type Message, toJsonString } from "@bufbuild/protobuf";
import { InfraError } from "../../adapters/host/infra-error.ts";
import type { ErrorCode, ReasonName } from "../../adapters/host/reasons.ts";
import { UserService } from "../../gen/hostplane/v1/user_pb.ts";
import type { Around, Call, Output } from "./call.ts";
import { infraErrorFrom } from "./errors.ts";
import type { LinkFor } from "./method-links.ts";
import { type MethodRule, methodPathOf } from "./method-rule.ts";
import { createRefusalSums, type RefusalSum } from "./refusal-sums.ts";
import { withoutSecrets } from "./secret-fields.ts";

/** What is known of a call when it begins. */
export interface AuditedCall {
  readonly actor: string;
  readonly accountId: string;
  readonly credential: string;
  readonly address: string;
  readonly listener: string;
  readonly rpc: string;
  readonly requestId: string;
  /** JSON without secrets; undefined where there is no single message. */
  readonly request: string | undefined;
}

/** How a call ended. */
export interface AuditedOutcome {
  readonly code: ErrorCode | "OK";
  readonly reason: ReasonName | undefined;
  readonly resource: string | undefined;
  /** The durable operation that the call has begun, found or changed. */
  readonly operationId: string | undefined;
}

/** A refused call, as it stands for all of its caller, address and reason. */
export interface AuditedRefusal {
  readonly call: AuditedCall;
  readonly outcome: AuditedOutcome;
}

/** Where the audit log is kept. What it throws is a failure to write. */
export interface AuditPort {
  /** Writes a call, with its outcome if it is over; resolves with a number for `end` once that would survive a power cut. */
  add(call: AuditedCall, outcome: AuditedOutcome | undefined): Promise<number>;
  end(sequence: number, outcome: AuditedOutcome): Promise<void>;
  /** Adds refused calls to the rows of their keys for this minute; those of `otherKeys` have nothing in common. */
  addRefusals(sums: readonly RefusalSum<AuditedRefusal>[]): Promise<void>;
  /** Told of what could not be written where no call could be refused for it. */
  onFailed(what: string, error: unknown): void;
}

export interface CallAudit {
  /** Around the whole chain but the log: records calls that were refused before they began, and logins. */
  readonly around: Around;
  /** Behind authorization, limits and headers: records streams, from before they begin until their last message is out. */
  readonly aroundStreams: LinkFor;
  /**
   * Around the work of a unary call, where it goes on when its caller has left: records it from before it begins until it
   * has ended, however the call did.
   */
  readonly aroundWork: LinkFor;
  /** Waits until the work that is recorded has ended, and writes what is not written yet. */
  close(): Promise<void>;
}

/**
 * Records changes, and calls that tell secrets, with who made them and how they ended. A call that cannot be recorded
 * does not begin; one that has no outcome in the record was under way when its gateway died. Calls that were refused for
 * who made them are summed by caller, address, reason and minute. Any other call costs nothing.
 */
export function createCallAudit(port: AuditPort): CallAudit {
  const begun = new WeakSet<Call>();
  const underWay = new Set<Promise<unknown>>();
  const sums = createRefusalSums<AuditedRefusal>(port.addRefusals, (error) =>
    port.onFailed("refused calls", error),
  );

  /** Refuses the call when its row cannot be written. Returns what completes the row. */
  async function begin(call: Call): Promise<(error: InfraError | undefined) => Promise<void>> {
    const isSingle = call.method.methodKind === "unary" || call.method.methodKind === "server_streaming";
    const request = isSingle ? requestText(call.method.input, await call.input()) : undefined;
    begun.add(call);
    const sequence = await written(port.add(auditedCall(call, request), undefined));
    return async (error) => {
      try {
        await port.end(sequence, auditedOutcome(call, error));
      } catch (failure) {
        port.onFailed(`the end of ${call.requestId}`, failure);
      }
    };
  }

  async function record(call: Call, next: () => Promise<Output>): Promise<Output> {
    const end = await begin(call);
    try {
      // The caller may have left while the row was written.
      call.signal.throwIfAborted();
      const output = await next();
      if (Symbol.asyncIterator in output) {
        call.onOver(end);
      } else {
        await end(undefined);
      }
      return output;
    } catch (thrown) {
      await end(infraErrorFrom(thrown));
      throw thrown;
    }
  }

  async function recordUnderWay(call: Call, next: () => Promise<Output>): Promise<Output> {
    const work = record(call, next);
    underWay.add(work);
    try {
      return await work;
    } finally {
      underWay.delete(work);
    }
  }

  async function noteRefusal(call: Call, error: InfraError): Promise<void> {
    // The answer to a page that asks whether there is a login, as the dashboard does first of all.
    if (call.method === UserService.method.getCaller && error.reason === "LOGIN_REQUIRED") {
      return;
    }
    // A stranger's mistakes are summed as well, or they would fill the disk.
    const isStranger = call.rule.mutation && call.caller.role === undefined;
    if (begun.has(call) || !(isStranger || isRefusedForCaller(error) || call.rule.mutation)) {
      return;
    }
    const audited = auditedCall(call, undefined);
    const outcome = auditedOutcome(call, error);
    if (isStranger || isRefusedForCaller(error)) {
      // Nobody's refusals are lost among those of others at the same address, or stand under another's name.
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
    async around(call, next) {
      let output: Output;
      try {
        output = await next();
      } catch (thrown) {
        await noteRefusal(call, infraErrorFrom(thrown));
        throw thrown;
      }
      // A login: who it is was known at its end alone, and those that failed are summed.
      if (call.rule.mutation && call.rule.role === "anyone") {
        await written(port.add(auditedCall(call, undefined), auditedOutcome(call, undefined)));
      }
      return output;
    },
    aroundStreams: ({ methodKind }, rule) =>
      methodKind !== "unary" && isRecorded(rule) ? record : undefined,
    aroundWork: ({ methodKind }, rule) =>
      methodKind === "unary" && isRecorded(rule) ? recordUnderWay : undefined,
    async close() {
      await Promise.allSettled(underWay);
      await sums.flush();
    },
  };
}

function isRecorded(rule: MethodRule): boolean {
  return (rule.mutation || rule.secrets) && rule.role !== "anyone";
}

function isRefusedForCaller({ code, reason }: InfraError): boolean {
  return (
    code === "UNAUTHENTICATED" ||
    code === "PERMISSION_DENIED" ||
    reason === "CALLER_LIMIT" ||
    reason === "TOO_MANY_LOGINS"
  );
}

/** @throws InfraError STORE_UNAVAILABLE, SHUTTING_DOWN */
async function written<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (thrown) {
    const { reason } = infraErrorFrom(thrown);
    if (reason === "SHUTTING_DOWN") {
      throw thrown;
    }
    const message = "the audit log cannot be written, and nothing is done that is not in it";
    throw new InfraError("STORE_UNAVAILABLE", message, { cause: thrown, retryAfterMs: 1000 });
  }
}

function auditedCall({ caller, peer, method, requestId }: Call, request: string | undefined): AuditedCall {
  const { actor, accountId, credential } = caller;
  const { address, listener } = peer;
  return { actor, accountId, credential, address, listener, rpc: methodPathOf(method), requestId, request };
}

function auditedOutcome(call: Call, error: InfraError | undefined): AuditedOutcome {
  return {
    code: error?.code ?? "OK",
    reason: error?.reason,
    resource: call.resource() ?? error?.resource,
    operationId: call.operationId(),
  };
}

const requestMaxBytes = 4096;
const cutMark = "…";

/** The request as JSON without its secrets; what is longer than 4 KiB of UTF-8 ends there, with `…`. */
export function requestText(type: DescMessage, message: Message): string | undefined {
  const text = jsonText(type, withoutSecrets(type, message));
  if (text === undefined || Buffer.byteLength(text) <= requestMaxBytes) {
    return text;
  }
  const bytes = Buffer.from(text).subarray(0, requestMaxBytes - Buffer.byteLength(cutMark));
  // A decoder that waits for more leaves out a character that is cut in two.
  return new TextDecoder().decode(bytes, { stream: true }) + cutMark;
}

/** Undefined for what has no JSON form, such as a timestamp in the year 10,000: the call is refused for that or it is not. */
function jsonText(type: DescMessage, message: Message): string | undefined {
  try {
    return toJsonString(type, message);
  } catch {
    return undefined;
  }
}
