import { InvalidArgumentError } from "commander";
import fc from "fast-check";
import { test } from "tap";
import { parseSize } from "../../../../../server/cli/table/parse/parse-size.ts";

test("a size is a number with a unit", async (t) => {
  t.equal(parseSize("1B"), 1n);
  t.equal(parseSize("10GiB"), 10n << 30n);
  t.equal(parseSize("1.5 TiB"), 3n << 39n);
  t.equal(parseSize("0.5KiB"), 512n);
  for (const text of [
    "",
    "0",
    "1",
    "5",
    "1073741824",
    "GiB",
    "0B",
    "-1GiB",
    "1.5",
    "1.5B",
    "1GB",
    "1 G",
    "9999999TiB",
    "1e3",
    "0x10",
    "1KiBx",
  ]) {
    t.throws(() => parseSize(text), InvalidArgumentError, text);
  }
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        return parseSize(text) > 0n;
      } catch (error) {
        return error instanceof InvalidArgumentError;
      }
    }),
  );
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 8_000_000n }), (tebibytes) => {
      return parseSize(`${tebibytes}TiB`) === tebibytes << 40n;
    }),
  );
});
