import { test } from "tap";
import { makeDirectory } from "../store/store-under-test.ts";
import { testKilledChange } from "./killed-change.ts";

test("a change of the master key that is killed at any step is finished by the next gateway", async (t) => {
  await testKilledChange(t, { url: "sqlite", directory: await makeDirectory(t) });
});
