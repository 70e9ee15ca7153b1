import type { ErrorCode, Reason } from "./define-reasons.ts";
import { hostReasons } from "./reasons.ts";

/** A field of a request that was rejected. `field` is its name in the contract, e.g. `size_gb`. */
export interface FieldViolation {
  readonly field: string;
  /** The problem and the limit: a sentence without the field's name, which precedes it. */
  readonly description: string;
}

/**
 * Changes made by a failed call: `none` nothing; `possible` perhaps all or part of the request; `done` all of it,
 * before something else failed.
 */
export type Effect = "none" | "possible" | "done";

/** Details of a failure beyond its reason. */
export interface InfraErrorFacts {
  /** The resource that the error is about, e.g. `volumeGroups/vg0/volumes/data`. Reaches the client. */
  readonly resource?: string;
  /** The invalid fields. Reaches the client. */
  readonly violations?: readonly FieldViolation[];
  /** Delay after which the same call is worth retrying. Reaches the client. */
  readonly retryAfterMs?: number;
  /**
   * Changes made by the failed call. Reaches the client. If absent, `adapters/host/effect.ts` derives it for changes.
   */
  readonly effect?: Effect | undefined;
  /** Further machine-readable details by name, e.g. `cursor`. Reaches the client. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The underlying error. For the log only: it never reaches a client. */
  readonly cause?: unknown;
}

/**
 * The gateway's only error class. Adapters and domains throw it; `server/rpc/errors.ts` converts it to each protocol's
 * form. The message reaches the client, so it must not contain secrets.
 */
export class InfraError extends Error {
  override readonly name = "InfraError";
  /** Id of the reason, as in `google.rpc.ErrorInfo.reason`. */
  readonly reason: string;
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly effect: Effect | undefined;
  readonly resource: string | undefined;
  readonly violations: readonly FieldViolation[];
  readonly retryAfterMs: number | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly #declared: Reason;

  constructor(reason: Reason, message: string, facts: InfraErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.#declared = reason;
    this.reason = reason.id;
    this.code = reason.code;
    this.effect = facts.effect;
    // A retry could apply the change twice.
    this.retryable = reason.retryable && (facts.effect ?? "none") === "none";
    this.resource = facts.resource;
    this.violations = facts.violations ?? [];
    this.retryAfterMs = facts.retryAfterMs;
    this.metadata = facts.metadata ?? {};
  }

  /** The reason as it was declared: `retryable` does not depend on the effect. */
  get declared(): Reason {
    return this.#declared;
  }

  /** Reports whether the error has one of these reasons. By id, since an error may come from another thread. */
  is(...reasons: readonly Reason[]): boolean {
    return reasons.some(({ id }) => id === this.reason);
  }

  /** Returns a copy of the error with this effect. A copy, since many calls may fail with the same error. */
  withEffect(effect: Effect): InfraError {
    const { message, resource, violations, metadata, cause } = this;
    const retryAfterMs = effect === "none" ? this.retryAfterMs : undefined;
    const copy = new InfraError(this.#declared, message, {
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

/** Reports whether it is an InfraError with one of these reasons. */
export function hasReason(error: unknown, ...reasons: readonly Reason[]): error is InfraError {
  return error instanceof InfraError && error.is(...reasons);
}

/** Creates an INVALID_ARGUMENT error for one field, with a message that is readable where details are not shown. */
export function invalidField(field: string, description: string): InfraError {
  return new InfraError(hostReasons.INVALID_FIELD, `${field}: ${description}`, {
    violations: [{ field, description }],
  });
}
