import { transactions as own } from "../../../server/gateway/store-transactions.ts";
import type { TransactionContext } from "../../../server/store/transaction.ts";

/** The gateway's own transactions, and one that writes events with past times. */
export const transactions = {
  ...own,

  /** Writes an event for each time, in this order. */
  async "test.appendAt"({ db, notify, lockEvents }: TransactionContext, { times }: { times: number[] }) {
    await lockEvents();
    for (const at of times) {
      const event = { topic: "test", type: "test.happened", resource: "tests/a", host: "", services: "[]" };
      await db
        .insertInto("events")
        .values({ ...event, at, operation_id: null, payload_json: "null" })
        .execute();
    }
    notify("events");
  },
};
