import type { EndEnvelope } from "./envelope-tracker.ts";

/** Follows the body of an answer that passes by. */
export interface AnswerTracker {
  push(chunk: Buffer): void;
  /** Whether an end could be written here, and its reader would understand it. */
  isAtBoundary(): boolean;
  /** Whether the body says itself that it is whole. Other bodies end with trailers, or with the end of their HTTP message. */
  isWhole(): boolean;
  /** The envelope or event that ended it, which says how the call ended. */
  end(): EndEnvelope | undefined;
}
