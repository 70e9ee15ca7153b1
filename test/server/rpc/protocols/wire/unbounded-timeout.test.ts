import assert from "node:assert/strict";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import fc from "fast-check";
import { test } from "tap";
import { dropUnboundedTimeout } from "../../../../../server/rpc/protocols/wire/unbounded-timeout.ts";

const maxTimerMs = 2 ** 31 - 1;

test("a deadline is kept exactly if a timer can wait for it", async () => {
  const grpc = fc.tuple(fc.integer({ min: 0, max: 99_999_999 }), fc.constantFrom(..."HMSmun"));
  const values = fc.oneof(
    fc.nat(9_999_999_999).map(String),
    grpc.map(([count, unit]) => `${count}${unit}`),
    fc.constantFrom("596H", "597H", "35791M", "35792M", "2147483S", "2147484S", "2147483647", "2147483648"),
    fc.string().filter((value) => /^[\x20-\x7e]*$/.test(value)),
  );
  for (const [name, parseTimeout] of [
    ["connect-timeout-ms", parseConnectTimeout],
    ["grpc-timeout", parseGrpcTimeout],
  ] as const) {
    fc.assert(
      fc.property(values, (value) => {
        const header = new Headers({ [name]: value });
        const { timeoutMs = 0 } = parseTimeout(header.get(name), Number.MAX_SAFE_INTEGER);
        dropUnboundedTimeout(header);
        assert.equal(header.has(name), timeoutMs <= maxTimerMs, `${name}: ${value}`);
      }),
      { numRuns: 300 },
    );
  }
});
