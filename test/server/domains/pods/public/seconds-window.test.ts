import { test } from "tap";
import { parseSecondsWindow } from "../../../../../server/domains/pods/public/seconds-window.ts";

test("a time of 0 is not set", async (t) => {
  t.strictSame(parseSecondsWindow({ sinceTime: 0n, untilTime: 0n }), {
    sinceSeconds: undefined,
    untilSeconds: undefined,
  });
  t.strictSame(parseSecondsWindow({ sinceTime: 5n, untilTime: 6n }), { sinceSeconds: 5n, untilSeconds: 6n });
});

test("an empty window is rejected with its field", async (t) => {
  for (const [window, field] of [
    [{ sinceTime: -1n, untilTime: 0n }, "since_time"],
    [{ sinceTime: 0n, untilTime: 253_402_300_800n }, "until_time"],
    [{ sinceTime: 5n, untilTime: 5n }, "until_time"],
    [{ sinceTime: 6n, untilTime: 5n }, "until_time"],
  ] as const) {
    t.throws(() => parseSecondsWindow(window, "filter."), {
      name: "InfraError",
      reason: "INVALID_FIELD",
      violations: [{ field: `filter.${field}` }],
    });
  }
});
