import fc from "fast-check";
import { test } from "tap";
import type { LogPiece } from "../../../../../adapters/podman/adapter.ts";
import { createLineAssembly } from "../../../../../server/domains/pods/logs/line-assembly.ts";

type Stream = LogPiece["stream"];

const piece = (stream: Stream, text: string, endsLine: boolean, timeNs = 1n): LogPiece => ({
  stream,
  timeNs,
  bytes: Buffer.from(text),
  endsLine,
});
const textOf = ({ bytes }: { readonly bytes: Uint8Array }) => Buffer.from(bytes).toString();

test("pieces of a line are joined, separately for each stream", async (t) => {
  const assembly = createLineAssembly(100);
  t.strictSame(assembly.linesOf([piece("stdout", "a", false, 1n), piece("stderr", "x", false, 2n)]), []);
  t.ok(assembly.hasUnfinishedLine());
  const lines = assembly.linesOf([
    piece("stderr", "y", true, 3n),
    piece("stderr", "", true, 4n),
    piece("stdout", "b", true, 5n),
  ]);
  t.strictSame(
    lines.map((line) => [textOf(line), line.timeNs]),
    [
      ["xy", 3n],
      ["", 4n],
      ["ab", 5n],
    ],
  );
  t.notOk(assembly.hasUnfinishedLine());
});

test("unfinished lines can be ended, the earlier one first", async (t) => {
  const assembly = createLineAssembly(100);
  t.strictSame(assembly.end(), []);
  assembly.linesOf([piece("stdout", "late", false, 2n), piece("stderr", "early", false, 1n)]);
  t.strictSame(assembly.end().map(textOf), ["early", "late"]);
  t.notOk(assembly.hasUnfinishedLine());
  t.strictSame(assembly.linesOf([piece("stdout", "new", true)]).map(textOf), ["new"]);
});

test("bytes of a line beyond the limit are counted and dropped", async (t) => {
  const assembly = createLineAssembly(4);
  t.match(assembly.linesOf([piece("stdout", "abcdef", true)]), [{ cutBytes: 2 }]);
  assembly.linesOf([piece("stdout", "ab", false), piece("stdout", "cdef", false)]);
  const [line] = assembly.linesOf([piece("stdout", "ghi", true)]);
  t.equal(line && textOf(line), "abcd");
  t.equal(line?.cutBytes, 5);
  t.match(assembly.linesOf([piece("stdout", "abcd", true)]), [{ cutBytes: 0 }]);
});

test("lines are reassembled whatever their pieces", async () => {
  const lines = fc.array(
    fc.record({
      stream: fc.constantFrom<Stream>("stdout", "stderr"),
      parts: fc.array(fc.string({ maxLength: 20 }), { minLength: 1, maxLength: 5 }),
    }),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(
      lines,
      fc.integer({ min: 1, max: 30 }),
      fc.infiniteStream(fc.boolean()),
      (all, maxBytes, toss) => {
        // The pieces of each stream in order, the two streams interleaved at random.
        const queues = (["stdout", "stderr"] as const).map((stream) =>
          all
            .filter((line) => line.stream === stream)
            .flatMap(({ parts }) => parts.map((text, at) => piece(stream, text, at === parts.length - 1))),
        );
        const [out = [], err = []] = queues;
        const mixed: LogPiece[] = [];
        while (out.length + err.length > 0) {
          const next = (toss.next().value ? out : err).shift() ?? out.shift() ?? err.shift();
          if (next !== undefined) {
            mixed.push(next);
          }
        }
        const assembly = createLineAssembly(maxBytes);
        const found = mixed.flatMap((one) => assembly.linesOf([one]));
        const expected = all.map(({ parts }) => Buffer.from(parts.join("")));
        return (
          !assembly.hasUnfinishedLine() &&
          JSON.stringify(found.map((line) => `${textOf(line)}+${line.cutBytes}`).toSorted()) ===
            JSON.stringify(
              expected
                .map((bytes) => {
                  const kept = bytes.subarray(0, maxBytes);
                  return `${kept.toString()}+${bytes.length - kept.length}`;
                })
                .toSorted(),
            )
        );
      },
    ),
  );
});
