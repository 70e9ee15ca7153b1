import fc from "fast-check";
import { test } from "tap";
import {
  appendLines,
  emptyLog,
  type LogBuffer,
  logText,
  matchingLines,
  maxLines,
} from "../../../../dashboard/pages/pods/log-buffer.ts";

const linesOf = ({ blocks }: LogBuffer) => blocks.flatMap(({ lines }) => lines);

test("a line is a time and the printed text, without terminal colours", async (t) => {
  const log = appendLines(emptyLog, [
    "2026-11-21T15:29:23Z hello  world",
    "2026-11-21T15:29:24Z ",
    "2026-11-21T15:29:25Z \u001b[1;31mred\u001b[0m",
  ]);
  t.match(linesOf(log), [
    { time: "2026-11-21T15:29:23Z", text: "hello  world" },
    { time: "2026-11-21T15:29:24Z", text: "" },
    { time: "2026-11-21T15:29:25Z", text: "red" },
  ]);
});

test("the newest lines are kept in order up to the limit, and full blocks stay the same object", async () => {
  const batches = fc.array(fc.nat(700), { maxLength: 30 });
  fc.assert(
    fc.property(batches, (sizes) => {
      let log = emptyLog;
      let count = 0;
      for (const size of sizes) {
        const before = log.blocks;
        const first = count;
        log = appendLines(
          log,
          Array.from({ length: size }, (_, index) => `t ${first + index}`),
        );
        count += size;
        const isShared = before.slice(0, -1).every((block) => {
          const now = log.blocks.find(({ key }) => key === block.key);
          return now === undefined || now === block;
        });
        if (!isShared) {
          return false;
        }
      }
      const lines = linesOf(log);
      const oldest = count - lines.length;
      return (
        log.everCount === count &&
        log.lineCount === lines.length &&
        lines.length <= maxLines &&
        lines.length >= Math.min(count, maxLines - 100) &&
        lines.every(({ key, text }, index) => key === oldest + index && text === `${oldest + index}`)
      );
    }),
  );
});

test("a filter keeps the lines that have all words, in any case; blocks that match as a whole stay the same", async (t) => {
  const lines = ["GET /index 200", "GET /missing 404", "POST /index 200"];
  const log = appendLines(
    emptyLog,
    lines.map((line, second) => `2026-11-21T15:29:0${second}Z ${line}`),
  );
  t.same(
    linesOf(matchingLines(log, " get  INDEX ")).map(({ text }) => text),
    ["GET /index 200"],
  );
  t.equal(matchingLines(log, "get index").lineCount, 1);
  t.equal(matchingLines(log, "none").lineCount, 0);
  t.equal(matchingLines(log, " "), log);
  t.equal(matchingLines(log, "/").blocks[0], log.blocks[0]);
});

test("a log is saved with a line for each line, with its time", async (t) => {
  const log = appendLines(emptyLog, ["2026-11-21T15:29:23Z one", "2026-11-21T15:29:24Z two"]);
  t.equal(logText(log), "2026-11-21T15:29:23Z one\n2026-11-21T15:29:24Z two\n");
  t.equal(logText(emptyLog), "");
});
