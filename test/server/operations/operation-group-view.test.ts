import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { EventRecord } from "../../../server/events/event-record.ts";
import type { Operation } from "../../../server/operations/operation.ts";
import { operationGroupView } from "../../../server/operations/operation-group-view.ts";
import { storeReasons } from "../../../server/store/reasons.ts";

const operationOf = (id: string) => ({ id, state: "active", message: "" }) as Operation;

test("when one of several operations cannot be read, the view ends at once with the error", async (t) => {
  let followed = 0;
  const failure = new InfraError(storeReasons.STORE_UNAVAILABLE, "the database does not answer");
  const sources = {
    operations: {
      async getAtSeq(id: string) {
        if (id === "broken") {
          throw failure;
        }
        return { operation: operationOf(id), seq: 1 };
      },
    },
    events: {
      headSeq: 1,
      /** Nothing happens to the other operation. */
      async *follow(
        _afterSeq: number,
        _filter: unknown,
        signal: AbortSignal,
      ): AsyncGenerator<EventRecord, void> {
        followed += 1;
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
        followed -= 1;
      },
    },
  };
  const viewer = { signal: new AbortController().signal, noteOperation: () => {} };
  const begin = async () =>
    ["silent", "broken"].map((id) => ({ label: id, started: { operation: operationOf(id), isNew: false } }));
  const read = async () => {
    for await (const _message of operationGroupView(sources, viewer, begin)) {
      // The silent one reports that it is active.
    }
  };
  t.equal(await read().catch((error: unknown) => error), failure);
  t.equal(followed, 0, "the other one is no longer followed");
});
