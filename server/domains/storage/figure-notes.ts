import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Part } from "../../../adapters/host/part-of-state.ts";

/** A field of an answer that is unset because it could not be read, e.g. `services.mgr`, and why, for people. */
export interface MissingPart {
  readonly field: string;
  readonly reason: string;
}

/** Collects, while an answer is made, what of it is not as the contract would have it. */
export interface FigureNotes {
  readonly missing: readonly MissingPart[];
  /** Fields whose figure is beyond int32. */
  readonly clamped: readonly string[];
  /** What the part is; where it could not be read, undefined, and the field is noted with the reason. */
  valueOf<T>(field: string, part: Part<T>): T | undefined;
  /** The count, which is noted and clamped when int32 cannot hold it. */
  int32(field: string, count: number): number;
}

const maxInt32 = 2 ** 31 - 1;

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
 * What the part is, where an answer is nothing without it.
 * @throws InfraError FIGURE_UNAVAILABLE that names the field
 */
export function requirePart<T>(field: string, part: Part<T>): T {
  if ("missing" in part) {
    throw figureMissing([{ field, reason: part.missing }]);
  }
  return part.ok;
}

/** An answer cannot be given, since these parts of it cannot be read. */
export function figureMissing(missing: readonly MissingPart[]): InfraError {
  const words = missing.map(({ field, reason }) => `${field}: ${reason}`).join("; ");
  return new InfraError(
    "FIGURE_UNAVAILABLE",
    `the storage cluster does not tell all that it takes: ${words}`,
  );
}
