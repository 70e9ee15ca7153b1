import { hasEnded, type Operation } from "../../../server/operations/operation.ts";
import type { Store } from "../../../server/store/store.ts";

/** An operation's state in an event. */
export type ReportedState = Pick<Operation, "id" | "state">;

/** Reads all operations of a store. */
export async function readOperations(store: Pick<Store, "run">): Promise<readonly Operation[]> {
  const { operations } = await store.run("operations.list", {
    filters: {},
    belowSeq: undefined,
    limit: 100_000,
  });
  return operations;
}

/** Reads the states in operation events, in order. */
export async function readReportedStates(store: Pick<Store, "run">): Promise<readonly ReportedState[]> {
  const reported: ReportedState[] = [];
  for (let afterSeq = 0, isMore = true; isMore; ) {
    const { rows } = await store.run("events.read", { afterSeq, limit: 1000 });
    for (const { topic, payload_json } of rows) {
      if (topic === "operations") {
        reported.push(JSON.parse(payload_json));
      }
    }
    afterSeq = rows.at(-1)?.seq ?? afterSeq;
    isMore = rows.length === 1000;
  }
  return reported;
}

/** Returns a sentence for each operation that has not ended, or whose last event does not report its end. */
export function missingEnds(
  operations: readonly ReportedState[],
  reported: readonly ReportedState[],
): readonly string[] {
  const last = new Map(reported.map(({ id, state }) => [id, state]));
  return operations.flatMap(({ id, state }) => {
    if (!hasEnded({ state })) {
      return [`${id} has not ended: it is ${state}`];
    }
    return last.get(id) === state ? [] : [`${id} is ${state}, and its last event says ${last.get(id)}`];
  });
}
