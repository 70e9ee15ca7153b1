import { test } from "tap";
import { inSlices } from "../../../server/web/in-slices.ts";

test("steps run to their end, and others have their turn between them", async (t) => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  t.teardown(() => clearInterval(timer));
  const result = await inSlices(
    (function* () {
      for (let step = 0; step < 10; step++) {
        const untilMs = performance.now() + 10;
        while (performance.now() < untilMs) {
          // Work.
        }
        yield;
      }
      return "done";
    })(),
  );
  t.equal(result, "done");
  t.ok(turns >= 5, `${turns} turns`);
});
