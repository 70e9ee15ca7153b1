import { parseCursor } from "../../events/cursor.ts";

/**
 * Returns the cursor from which a host is followed after HISTORY_GONE; empty: from now on.
 * @param cursor the last cursor that was merged; the host no longer has the events after it
 * @param oldest the oldest cursor that the host still has
 * @returns the oldest cursor if it is after the other one, so that no event is merged twice. It is not if the host's store was
 * replaced or restored.
 */
export function resumeAfterGap(cursor: string, oldest: string | undefined): string {
  try {
    const [from, to] = [parseCursor(cursor), parseCursor(oldest ?? "")];
    return from.epoch === to.epoch && from.seq < to.seq ? (oldest ?? "") : "";
  } catch {
    return "";
  }
}
