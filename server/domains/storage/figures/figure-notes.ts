import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Part } from "../../../../adapters/host/part-of-state.ts";
import { storageReasons } from "../reasons.ts";

/** A field of an answer that is unset because it could not be read, such as `services.mgr`, and a human-readable reason. */
export interface MissingPart {
  readonly field: string;
  readonly reason: string;
}

/** Collects the fields that deviate from the contract while an answer is built. */
export interface FigureNotes {
  readonly missing: readonly MissingPart[];
  /** Fields whose figure exceeds int32. */
  readonly clamped: readonly string[];
  /** Returns the value of the part. If it could not be read, notes the field with the reason and returns undefined. */
  valueOf<T>(field: string, part: Part<T>): T | undefined;
  /** Returns the count. If it exceeds int32, notes the field and returns the maximum. */
  int32(field: string, count: number): number;
}

const maxInt32 = 2 ** 31 - 1;

/** Starts without notes; for one answer. */
export function createFigureNotes(): FigureNotes {
  const missing: MissingPart[] = [];
  const clamped: string[] = [];
  return {
    missing,
    clamped,
    valueOf(field, part) {
      if ("ok" in part) {
        return part.ok;
      }
      missing.push({ field, reason: part.missing });
      return undefined;
    },
    int32(field, count) {
      if (count <= maxInt32) {
        return count;
      }
      if (!clamped.includes(field)) {
        clamped.push(field);
      }
      return maxInt32;
    },
  };
}

/**
 * Returns the value of a part that the answer cannot do without.
 * @throws InfraError FIGURE_UNAVAILABLE that names the field
 */
export function requirePart<T>(field: string, part: Part<T>): T {
  if ("missing" in part) {
    throw figureMissing([{ field, reason: part.missing }]);
  }
  return part.ok;
}

/** Creates the error for an answer that cannot be given because these parts cannot be read. */
export function figureMissing(missing: readonly MissingPart[]): InfraError {
  const words = missing.map(({ field, reason }) => `${field}: ${reason}`).join("; ");
  return new InfraError(
    storageReasons.FIGURE_UNAVAILABLE,
    `required figures of the storage cluster are unavailable: ${words}`,
  );
}
