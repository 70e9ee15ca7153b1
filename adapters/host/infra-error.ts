import { type ErrorCode, type ReasonName, reasons } from "./reasons.ts";

/** A field of a request that was refused. `field` is its name in the contract, e.g. `size_gb`. */
export interface FieldViolation {
  readonly field: string;
  /** What is wrong and what the limit is, as a sentence without the field's name in front. */
  readonly description: string;
}

/**
 * What a call that failed has changed: `none` nothing, `possible` perhaps all or a part of what was asked for, `done` what
 * was asked for, after which something else failed.
 */
export type Effect = "none" | "possible" | "done";

/** What is known about a failure beyond its reason. */
export interface InfraErrorFacts {
  /** What the error is about, e.g. `volumeGroups/vg0/volumes/data`. Reaches the client. */
  readonly resource?: string;
  /** The fields at fault. Reaches the client. */
  readonly violations?: readonly FieldViolation[];
  /** When the same call is worth repeating. Reaches the client. */
  readonly retryAfterMs?: number;
  /** What the failed call has changed. Reaches the client. Absent: `adapters/host/effect.ts` finds it out for changes. */
  readonly effect?: Effect | undefined;
  /** What a program needs besides, by name, e.g. `cursor`. Reaches the client. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Where it comes from. For the log only: it never reaches a client. */
  readonly cause?: unknown;
}

/**
 * The one error of the gateway. Adapters and domains throw it; `server/rpc/errors.ts` turns it into each
 * protocol's own form. The message reaches the client: it must hold no secret.
 */
export class InfraError extends Error {
  override readonly name = "InfraError";
  readonly reason: ReasonName;
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly effect: Effect | undefined;
  readonly resource: string | undefined;
  readonly violations: readonly FieldViolation[];
  readonly retryAfterMs: number | undefined;
  readonly metadata: Readonly<Record<string, string>>;

  constructor(reason: ReasonName, message: string, facts: InfraErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.reason = reason;
    this.code = reasons[reason].code;
    this.effect = facts.effect;
    // A repetition could do it twice.
    this.retryable = reasons[reason].retryable && (facts.effect ?? "none") === "none";
    this.resource = facts.resource;
    this.violations = facts.violations ?? [];
    this.retryAfterMs = facts.retryAfterMs;
    this.metadata = facts.metadata ?? {};
  }

  /** The same error with this effect: a copy, since many calls may end with one error. */
  withEffect(effect: Effect): InfraError {
    const { reason, message, resource, violations, metadata, cause } = this;
    const retryAfterMs = effect === "none" ? this.retryAfterMs : undefined;
    const copy = new InfraError(reason, message, {
      violations,
      metadata,
      cause,
      effect,
      ...(resource === undefined ? {} : { resource }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
    copy.stack = this.stack ?? message;
    return copy;
  }
}

/** An INVALID_ARGUMENT error for one field, with a message that reads well where details are not shown. */
export function invalidField(field: string, description: string): InfraError {
  return new InfraError("INVALID_FIELD", `${field}: ${description}`, {
    violations: [{ field, description }],
  });
}
