import { test } from "tap";
import { testObservedStateContract } from "./observed-states-contract.ts";

test("SQLite fulfills the contract for the published states of systems", async (t) =>
  testObservedStateContract(t, async () => ({})));
