import { test } from "tap";
import { createRefusalLog } from "../../../../server/rpc/listener/refusal-log.ts";

test("many refused connections are one line a minute", async (t) => {
  const reported: object[] = [];
  let nowMs = 0;
  t.intercept(performance, "now", { value: () => nowMs });
  const log = createRefusalLog((refused) => reported.push(refused));
  for (nowMs = 0; nowMs <= 60_000; nowMs += 10) {
    log("192.0.2.1", "why");
  }
  t.same(reported, [
    { address: "192.0.2.1", why: "why", omittedCount: 0 },
    { address: "192.0.2.1", why: "why", omittedCount: 5999 },
  ]);
});
