import fc from "fast-check";
import { test } from "tap";
import {
  createLineWriter,
  leastLineBytes,
  messageBytesOf,
  rfc3339FromNs,
} from "../../../../../server/domains/pods/logs/log-line.ts";

const timeNs = 1_795_275_000_000_000_000n;
const bytesOf = (text: string) => new TextEncoder().encode(text);

test("a time has as many digits as needed, also before 1970", async (t) => {
  t.equal(rfc3339FromNs(0n), "1970-01-01T00:00:00Z");
  t.equal(rfc3339FromNs(1_700_000_000_000_000_000n), "2023-11-14T22:13:20Z");
  t.equal(rfc3339FromNs(1_700_000_000_120_000_000n), "2023-11-14T22:13:20.12Z");
  t.equal(rfc3339FromNs(1_700_000_000_000_000_001n), "2023-11-14T22:13:20.000000001Z");
  t.equal(rfc3339FromNs(-1n), "1969-12-31T23:59:59.999999999Z");
});

test("a formatted time can be parsed back", async () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 253_402_300_799_999_999_999n }), (ns) => {
      const text = rfc3339FromNs(ns);
      const [, fraction = ""] = /\.(\d+)Z$/.exec(text) ?? [];
      const seconds = BigInt(Date.parse(text.replace(/\.\d+/, ""))) / 1000n;
      return seconds * 1_000_000_000n + BigInt(fraction.padEnd(9, "0")) === ns;
    }),
  );
});

test("a line is its time and the unchanged output", async (t) => {
  const write = createLineWriter(10_000);
  const written = (bytes: Uint8Array) => write({ timeNs, bytes, cutBytes: 0 });
  const time = rfc3339FromNs(timeNs);
  t.equal(written(bytesOf("hello")), `${time} hello`);
  t.equal(written(bytesOf("")), `${time} `);
  t.equal(written(bytesOf("  two  \r")), `${time}   two  \r`);
  t.equal(written(bytesOf("\u{feff}über 🐋")), `${time} \u{feff}über 🐋`);
  t.equal(written(Uint8Array.of(0x61, 0xff, 0x62, 0xf0, 0x9f)), `${time} a\u{fffd}b\u{fffd}`);
});

test("a line that is too long shows how much was cut", async (t) => {
  const write = createLineWriter(1_000);
  t.match(
    write({ timeNs, bytes: bytesOf("x".repeat(1_000)), cutBytes: 5_000 }),
    /^\S+Z x{900,} \(cut: 5\d\d\d bytes more\)$/,
  );
  const whale = write({ timeNs, bytes: bytesOf("🐋".repeat(500)), cutBytes: 0 });
  t.match(whale, /^\S+Z (🐋)+ \(cut: 1\d\d\d bytes more\)$/u);
  t.ok(whale.isWellFormed());
});

test("no line is larger in a message than allowed, in any protocol", async () => {
  const unit = fc.constantFrom("a", "ä", "€", "🐋", "\u0007", '"', "\\", "\n", "\u2028");
  const text = fc.oneof(
    fc.array(unit, { maxLength: 400 }).map((units) => units.join("")),
    fc.string(),
  );
  fc.assert(
    fc.property(
      text,
      fc.integer({ min: 128, max: 600 }),
      fc.nat({ max: 1_000_000_000 }),
      (words, maxBytes, cutBytes) => {
        const line = createLineWriter(maxBytes)({ timeNs, bytes: bytesOf(words), cutBytes });
        const isCut = line.endsWith("bytes more)");
        const least = leastLineBytes + Buffer.byteLength(isCut ? "" : words);
        return (
          // If a part was dropped earlier, as much as fits was kept.
          (cutBytes > 0 && Buffer.byteLength(words) * 6 <= maxBytes - 96) ||
          (messageBytesOf(line) <= maxBytes &&
            messageBytesOf(line) >= Buffer.byteLength(JSON.stringify(line)) + 1 &&
            messageBytesOf(line) >= least &&
            line.isWellFormed())
        );
      },
    ),
  );
});

test("any bytes become text", async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const line = createLineWriter(100_000)({ timeNs, bytes, cutBytes: 0 });
      return line.isWellFormed() && line.slice(21) === Buffer.from(bytes).toString("utf8");
    }),
  );
});
