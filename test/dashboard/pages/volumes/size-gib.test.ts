import fc from "fast-check";
import { test } from "tap";
import { parseSizeGib } from "../../../../dashboard/pages/volumes/size-gib.ts";

test("sizes are parsed in the usual units, as whole GiB", async (t) => {
  for (const [text, sizeGib] of [
    ["10", 10n],
    [" 10 GiB ", 10n],
    ["10g", 10n],
    ["10GB", 10n],
    ["1.5 TiB", 1536n],
    ["2048 MiB", 2n],
    ["0", 0n],
    ["2p", 2n << 20n],
  ] as const) {
    t.equal(parseSizeGib(text), sizeGib, text);
  }
});

test("invalid sizes and fractions of a GiB are rejected with a message", async (t) => {
  for (const text of ["", "GiB", "-1", "1,5 TiB", "1e3", "10 XiB", "1 GiB 2"]) {
    t.throws(() => parseSizeGib(text), { message: /^expected a number and a unit/ }, text);
  }
  for (const text of ["1.5", "512 MiB", "1073741825 b"]) {
    t.throws(() => parseSizeGib(text), { message: "must be whole GiB" }, text);
  }
});

test("any whole number of GiB is parsed back from any unit that can express it", async () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 1n << 34n }), fc.constantFrom(0, 10, 20, 30), (sizeGib, shift) => {
      const unit = { 0: "GiB", 10: "MiB", 20: "KiB", 30: "B" }[shift];
      return parseSizeGib(`${sizeGib << BigInt(shift)} ${unit}`) === sizeGib;
    }),
  );
});

test("never throws anything but a RangeError", async () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        return parseSizeGib(text) >= 0n;
      } catch (error) {
        return error instanceof RangeError;
      }
    }),
  );
});
