import fc from "fast-check";
import { test } from "tap";
import type { LogPiece } from "../../../../adapters/podman/adapter.ts";
import { createLogPosition } from "../../../../adapters/podman/logs/log-position.ts";

const secondNs = 1_000_000_000n;

function pieceAt(timeNs: bigint, number: number): LogPiece {
  return { stream: "stdout", timeNs, bytes: Uint8Array.of(number % 256), endsLine: true };
}

test("however often the connection ends, each piece is delivered once and in order", async () => {
  // Times in order, many within one second; the length of the log at each connection, and how much of it is delivered.
  const steps = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 60 });
  const connections = fc.array(fc.tuple(fc.nat(60), fc.nat(60)), { maxLength: 10 });
  const firsts = fc.option(fc.bigInt({ min: 0n, max: 60n }), { nil: undefined });
  fc.assert(
    fc.property(steps, connections, firsts, (pauses, ends, first) => {
      let seconds = 0n;
      const log = pauses.map((pause, index) => {
        seconds += BigInt(pause);
        return pieceAt(seconds * secondNs, index);
      });
      const position = createLogPosition(first === undefined ? undefined : first * secondNs);
      const found: LogPiece[] = [];
      let printed = 0;
      for (const [more, brought] of [...ends, [log.length, log.length]]) {
        printed = Math.min(log.length, printed + (more ?? 0));
        const sinceNs = position.sinceNs() ?? 0n;
        const requested = log.slice(0, printed).filter(({ timeNs }) => timeNs >= sinceNs);
        found.push(...position.newOf(requested.slice(0, brought)));
      }
      const expected = log.filter(({ timeNs }) => timeNs >= (first ?? 0n) * secondNs);
      return found.length === expected.length && found.every((piece, index) => piece === expected[index]);
    }),
    { numRuns: 1_000 },
  );
});

test("a clock that was set back hides nothing", async (t) => {
  const position = createLogPosition(undefined);
  position.sinceNs();
  t.equal(position.newOf([pieceAt(9n * secondNs, 0), pieceAt(5n * secondNs, 1)]).length, 2);
  t.equal(position.newOf([pieceAt(5n * secondNs, 2)]).length, 1);
});
