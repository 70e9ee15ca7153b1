import type { Snapshot } from "../../../../adapters/host/snapshot.ts";
import type { Call } from "../../../rpc/call/call.ts";
import type { MissingPart } from "./figure-notes.ts";

/** Sets the header with the age, in milliseconds, of the oldest snapshot that an answer is based on. */
export function setSnapshotAge(call: Call, ...snapshots: readonly Snapshot<unknown>[]): void {
  const oldestMs = Math.min(...snapshots.map(({ readAtMs }) => readAtMs));
  call.setHeader("hostplane-snapshot-age", String(Math.round(performance.now() - oldestMs)));
}

/** Fields of an answer that deviate from the contract. */
export interface AnswerNotes {
  readonly missing: readonly MissingPart[];
  /** Fields whose figure exceeds int32; none by default. */
  readonly clamped?: readonly string[];
}

/** Sets the headers that list fields which are unset because they could not be read, and fields which exceed int32. */
export function setNoteHeaders(call: Call, { missing, clamped = [] }: AnswerNotes): void {
  if (missing.length > 0) {
    call.setHeader("hostplane-missing", missing.map(({ field }) => field).join(", "));
  }
  if (clamped.length > 0) {
    call.setHeader("hostplane-clamped", clamped.join(", "));
  }
}

/** Maximum number of reasons per score. */
const maxWords = 12;

/** Sets the header with the reasons for each score: `cluster_health: OSD_DOWN -15; nodes_health: 3 of 3 ready; ...`. */
export function setScoreHeader(call: Call, because: Readonly<Record<string, readonly string[]>>): void {
  const scores = Object.entries(because).map(([field, words]) => {
    const more = words.length > maxWords ? [`${words.length - maxWords} more`] : [];
    return `${field}: ${[...words.slice(0, maxWords), ...more].join(", ") || "no deductions"}`;
  });
  // Modules of the manager choose the codes of their checks, which may contain any characters.
  call.setHeader("hostplane-radar", scores.join("; ").replaceAll(/[^\x20-\x7e]/g, "?"));
}
