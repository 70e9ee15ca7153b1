import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import { GetLogsResponseSchema } from "../../../../../gen/v1alpha/api_pb.ts";
import type { LogLine } from "../../../../../server/domains/pods/logs/log-line.ts";
import {
  createMessagePacker,
  type LogMessage,
  messageLimitsOf,
  newestMessage,
} from "../../../../../server/domains/pods/logs/log-messages.ts";
import { createNewestLines } from "../../../../../server/domains/pods/logs/newest-lines.ts";

const timeNs = 1_795_275_000_000_000_000n;
const lineOf = (text: string): LogLine => ({ timeNs, bytes: Buffer.from(text), cutBytes: 0 });
const sizeOf = (message: LogMessage) => {
  const full = create(GetLogsResponseSchema, { lines: message.lines });
  return Math.max(
    toBinary(GetLogsResponseSchema, full).length,
    toJsonString(GetLogsResponseSchema, full).length,
  );
};
const limits = { wholeBytes: 1_000, partBytes: 400 };
const words = fc.string({
  unit: fc.constantFrom("a", "b", "ä", "\u0001", "€", '"', "🐋"),
  maxLength: 300,
});

test("the listeners' limit applies if it is below 4 MiB", async (t) => {
  t.strictSame(messageLimitsOf(4 << 20), { wholeBytes: 3.5 * 2 ** 20, partBytes: 2 ** 20 });
  t.strictSame(messageLimitsOf(1 << 30), { wholeBytes: 3.5 * 2 ** 20, partBytes: 2 ** 20 });
  t.strictSame(messageLimitsOf(1 << 20), { wholeBytes: 917_504, partBytes: 917_504 });
  t.strictSame(messageLimitsOf(1024), { wholeBytes: 896, partBytes: 896 });
});

test("messages are not larger than allowed, and contain every line once", async () => {
  fc.assert(
    fc.property(fc.array(fc.array(words, { maxLength: 10 }), { maxLength: 10 }), (batches) => {
      const packer = createMessagePacker(limits);
      const full = batches.flatMap((texts) => [...packer.add(texts.map(lineOf))]);
      const rest = packer.rest();
      const all = rest === undefined ? full : [...full, rest];
      return (
        packer.rest() === undefined &&
        all.every((message) => message.lines.length > 0 && sizeOf(message) <= limits.wholeBytes) &&
        all.every((message) => message.lines.length === 1 || sizeOf(message) <= limits.partBytes + 16) &&
        all.flatMap(({ lines }) => lines).length === batches.flat().length
      );
    }),
  );
});

test("the single message contains the newest lines that fit, and the number of omitted ones", async () => {
  fc.assert(
    fc.property(
      fc.array(words, { maxLength: 40 }),
      fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(Number.POSITIVE_INFINITY)),
      (texts, maxLines) => {
        const newest = createNewestLines(maxLines, limits.wholeBytes);
        newest.add(texts.map(lineOf));
        const message = newestMessage(newest, maxLines, limits);
        const [first = ""] = message.lines;
        const [, count] = /hostplane: (\d+) earlier/.exec(first) ?? [];
        const leftOut = count === undefined ? 0 : Number(count);
        const reported = count === undefined ? message.lines : message.lines.slice(1);
        return (
          sizeOf(message) <= limits.wholeBytes &&
          reported.length + leftOut === Math.min(texts.length, maxLines) &&
          (reported.length > 0 || texts.length === 0) &&
          reported.every((line, at) => {
            const text = texts[texts.length - reported.length + at] ?? "";
            return line.slice(21) === text || line.endsWith("bytes more)");
          })
        );
      },
    ),
  );
});

test("the number of omitted lines has its own line", async (t) => {
  const newest = createNewestLines(Number.POSITIVE_INFINITY, limits.wholeBytes);
  newest.add(Array.from({ length: 50 }, (_, at) => lineOf(`line ${at} ${"x".repeat(60)}`)));
  const [notice, ...lines] = newestMessage(newest, Number.POSITIVE_INFINITY, limits).lines;
  t.match(notice, new RegExp(`^2026-\\S+Z hostplane: ${50 - lines.length} earlier lines do not fit`));
  t.match(lines.at(-1), /line 49 /);
  t.ok(lines.length >= 7);
});
