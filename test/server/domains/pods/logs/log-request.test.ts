import { test } from "tap";
import { parseLogRequest } from "../../../../../server/domains/pods/logs/log-request.ts";
import { reasonOf } from "../../../../adapters/host/reason-of.ts";

const request = (facts: { lines?: number; sinceTime?: bigint; untilTime?: bigint }) => ({
  lines: 0,
  sinceTime: 0n,
  untilTime: 0n,
  ...facts,
});

test("unset fields do not limit anything", async (t) => {
  t.strictSame(parseLogRequest(request({})), { maxLines: Number.POSITIVE_INFINITY });
  t.strictSame(parseLogRequest(request({ lines: 3, sinceTime: 1n, untilTime: 2n })), {
    maxLines: 3,
    sinceNs: 1_000_000_000n,
    untilNs: 2_000_000_000n,
  });
});

test("invalid numbers are rejected", async (t) => {
  for (const facts of [
    { lines: -1 },
    { sinceTime: -1n },
    { untilTime: -1n },
    { sinceTime: 253_402_300_800n },
    { untilTime: 1n << 62n },
    { sinceTime: 5n, untilTime: 5n },
  ]) {
    const parsing = Promise.resolve().then(() => parseLogRequest(request(facts)));
    t.equal(await reasonOf(parsing), "INVALID_FIELD", Object.keys(facts).join());
  }
});
