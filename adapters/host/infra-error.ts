import { type ErrorCode, type ReasonName, reasons } from "./reasons.ts";

/** A field of a request that was refused. `field` is its name in the contract, e.g. `size_gb`. */
export interface FieldViolation {
  readonly field: string;
  /** What is wrong and what the limit is, as a sentence without the field's name in front. */
  readonly description: string;
}

/** What is known about a failure beyond its reason. */
export interface InfraErrorFacts {
  /** What the error is about, e.g. `volumeGroups/vg0/volumes/data`. Reaches the client. */
  readonly resource?: string;
  /** The fields at fault. Reaches the client. */
  readonly violations?: readonly FieldViolation[];
  /** When the same call is worth repeating. Reaches the client. */
  readonly retryAfterMs?: number;
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
  readonly resource: string | undefined;
  readonly violations: readonly FieldViolation[];
  readonly retryAfterMs: number | undefined;
  readonly metadata: Readonly<Record<string, string>>;

  constructor(reason: ReasonName, message: string, facts: InfraErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.reason = reason;
    this.code = reasons[reason].code;
    this.retryable = reasons[reason].retryable;
    this.resource = facts.resource;
    this.violations = facts.violations ?? [];
    this.retryAfterMs = facts.retryAfterMs;
    this.metadata = facts.metadata ?? {};
  }
}

/** An INVALID_ARGUMENT error for one field, with a message that reads well where details are not shown. */
export function invalidField(field: string, description: string): InfraError {
  return new InfraError("INVALID_FIELD", `${field}: ${description}`, {
    violations: [{ field, description }],
  });
}
