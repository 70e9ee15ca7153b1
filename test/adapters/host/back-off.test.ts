import { test } from "tap";
import { backOffMs } from "../../../adapters/host/back-off.ts";

test("delays grow up to a limit, with jitter", async (t) => {
  for (let failures = 1; failures < 20; failures += 1) {
    const longest = Math.min(1000 * 2 ** (failures - 1), 60_000);
    const pauses = Array.from({ length: 20 }, () =>
      backOffMs(failures, { firstMs: 1000, longestMs: 60_000 }),
    );
    t.ok(pauses.every((ms) => ms >= longest / 2 && ms <= longest));
    t.ok(new Set(pauses).size > 1);
  }
});
