import { test } from "tap";
import { sandboxTrafficAt } from "../../../adapters/ceph/sandbox-traffic.ts";
import { createRandom } from "../../../adapters/sandbox/random.ts";

const midnightMs = Date.UTC(2026, 0, 1);
const hourMs = 3_600_000;
const random = createRandom(1);

/** Returns the average of the bytes read per second in an hour of the day. */
function averageIn(hour: number): number {
  const all = Array.from(
    { length: 60 },
    (_, minute) => sandboxTrafficAt(midnightMs + hour * hourMs + minute * 60_000, random).readBytesPerSecond,
  );
  return all.reduce((sum, each) => sum + each, 0) / all.length;
}

test("the traffic follows the day", async (t) => {
  t.ok(averageIn(15) > 3 * averageIn(3), `${averageIn(15)} by day, ${averageIn(3)} at night`);
});

test("it moves every two seconds, and is the same for the same seed", async (t) => {
  const at = (ms: number, seed = 1) => sandboxTrafficAt(midnightMs + ms, createRandom(seed));
  t.same(at(0), at(1_999));
  t.notSame(at(0), at(2_000));
  t.same(at(0), at(0));
  t.notSame(at(0), at(0, 2));
  for (const figure of Object.values(at(0))) {
    t.ok(figure > 0 && Number.isInteger(figure));
  }
});
