import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import type { Call } from "../../rpc/call.ts";
import type { MissingPart } from "./figure-notes.ts";

/** Says in headers how old the oldest of the states is that an answer comes of, in milliseconds. */
export function tellAge(call: Call, ...snapshots: readonly Snapshot<unknown>[]): void {
  const oldestMs = Math.min(...snapshots.map(({ readAtMs }) => readAtMs));
  call.setHeader("hostplane-snapshot-age", String(Math.round(performance.now() - oldestMs)));
}

/** What of an answer is not as the contract would have it. */
export interface AnswerNotes {
  readonly missing: readonly MissingPart[];
  /** Fields whose figure is beyond int32; none unless told. */
  readonly clamped?: readonly string[];
}

/** Says in headers which fields of an answer are unset because they could not be read, and which int32 cannot hold. */
export function tellNotes(call: Call, { missing, clamped = [] }: AnswerNotes): void {
  if (missing.length > 0) {
    call.setHeader("hostplane-missing", missing.map(({ field }) => field).join(", "));
  }
  if (clamped.length > 0) {
    call.setHeader("hostplane-clamped", clamped.join(", "));
  }
}

/** Of each score so many words at most. */
const maxWords = 12;

/** Says in a header what each score was made of: `cluster_health: OSD_DOWN -15; nodes_health: 3 of 3 ready; ...`. */
export function tellScores(call: Call, because: Readonly<Record<string, readonly string[]>>): void {
  const scores = Object.entries(because).map(([field, words]) => {
    const more = words.length > maxWords ? [`${words.length - maxWords} more`] : [];
    return `${field}: ${[...words.slice(0, maxWords), ...more].join(", ") || "nothing taken off"}`;
  });
  // Codes of checks are whatever a module of the manager calls them.
  call.setHeader("hostplane-radar", scores.join("; ").replaceAll(/[^\x20-\x7e]/g, "?"));
}
