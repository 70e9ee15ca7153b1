import { test } from "tap";
import { testBlocks } from "../../../docs/run-blocks.ts";
import { startAppUnderTest } from "../../app-under-test.ts";
import { callerOf, createPlanUnderTest, identifiedAs } from "./plan-under-test.ts";

test("docs/plans.md: what its examples print", { timeout: 180_000 }, async (t) => {
  const { registrations } = createPlanUnderTest();
  const { url } = await startAppUnderTest(t, identifiedAs(callerOf("operator"), registrations));
  await testBlocks(t, "docs/plans.md", { "127.0.0.1:8080": url.replace("http://", "") });
});
