/**
 * The codes with which a call may fail, by their gRPC names. UNKNOWN is missing on purpose: the gateway never returns
 * it.
 */
export const errorCodes = [
  "INVALID_ARGUMENT",
  "UNIMPLEMENTED",
  "INTERNAL",
  "RESOURCE_EXHAUSTED",
  "UNAVAILABLE",
  "PERMISSION_DENIED",
  "UNAUTHENTICATED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "FAILED_PRECONDITION",
  "ABORTED",
  "DEADLINE_EXCEEDED",
  "CANCELLED",
  "DATA_LOSS",
  "OUT_OF_RANGE",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** Why a call fails. Plain data, which can be stored, or sent to another thread. */
export interface Reason {
  /** As in `google.rpc.ErrorInfo.reason`, e.g. `NO_SPACE`. */
  readonly id: string;
  /** A reason has exactly one code, so a client may branch on either. */
  readonly code: ErrorCode;
  /** Whether the same call may succeed later without any change to it. */
  readonly retryable: boolean;
}

/** A reason as its table declares it. */
export interface DeclaredReason extends Reason {
  /** One sentence for a user who sees the reason for the first time; docs/errors.md repeats it. */
  readonly meaning: string;
}

/** Reasons by their ids. */
export type ReasonTable<Id extends string = string> = Readonly<Record<Id, DeclaredReason>>;

/**
 * Declares reasons. Each is declared once, in the `reasons.ts` of the folder whose code fails with it, or of the folder
 * that all such code may import. docs/errors.md lists them all, which test/server/gateway/all-reasons.test.ts checks.
 */
export function defineReasons<Id extends string>(
  rows: Readonly<Record<Id, Omit<DeclaredReason, "id">>>,
): ReasonTable<Id> {
  const declared = Object.entries<Omit<DeclaredReason, "id">>(rows).map(([id, row]) => [
    id,
    Object.freeze({ id, ...row }),
  ]);
  return Object.freeze(Object.fromEntries(declared));
}
