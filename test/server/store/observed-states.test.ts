import { test } from "tap";
import { testObservedStateContract } from "./observed-states-contract.ts";

test("SQLite keeps its promises of what was told of systems", async (t) =>
  testObservedStateContract(t, async () => ({})));
