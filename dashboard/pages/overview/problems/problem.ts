import type { Operation } from "../../../../gen/hostplane/v1/operation_pb.ts";

/** Something that needs a person. */
export interface Problem {
  /** Unique. */
  readonly key: string;
  readonly severity: "failed" | "warn";
  /** The smaller, the more urgent; among problems of the same severity. */
  readonly rank: number;
  /** What is wrong with what: "OSD osd.3 is down". */
  readonly title: string;
  /** Why, as far as it is known. Commands are between backticks. */
  readonly cause: string;
  /** Host, group or system. */
  readonly place: string;
  /** Since when, in milliseconds since 1970; undefined if it is not known. */
  readonly sinceMs?: number | undefined;
  /** The command that helps. */
  readonly command?: string | undefined;
  /** Absolute path of the page that shows more. */
  readonly path?: string | undefined;
  /** Operations that failed or need attention, the newest first; several if the same change failed again and again. */
  readonly operations?: readonly Operation[];
}

/** Ranks by what is wrong. */
export const ranks = { system: 0, attention: 1, resource: 2, repeated: 3, operation: 4, backup: 5 } as const;

/** Sorts problems: the most urgent first, then the newest. */
export function mostUrgentFirst(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted(
    (one, other) =>
      Number(one.severity === "warn") - Number(other.severity === "warn") ||
      one.rank - other.rank ||
      (other.sinceMs ?? 0) - (one.sinceMs ?? 0) ||
      one.title.localeCompare(other.title, "en", { numeric: true }),
  );
}
