import { test } from "tap";
import { openOwnStore } from "../../store/own-store.ts";
import { testIdempotencyContract } from "./idempotency-contract.ts";

test("two gateways on one SQLite store", async (t) =>
  testIdempotencyContract(t, async (t) => {
    const store = await openOwnStore(t);
    return [store, store];
  }));
