import fc from "fast-check";
import { test } from "tap";
import { parseSize } from "../../../../dashboard/parts/form/parse-size.ts";

test("a size with a unit is converted exactly, and rounded up to whole bytes", async (t) => {
  t.equal(parseSize("1 GiB"), 1_073_741_824n);
  t.equal(parseSize(" 512MiB "), 536_870_912n);
  t.equal(parseSize("1.5t"), 1_649_267_441_664n);
  t.equal(parseSize("0.1 GiB"), 107_374_183n, "rounded up");
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 1n << 40n }), (kib) => parseSize(`${kib} KiB`) === kib * 1024n),
  );
});

test("a number needs a unit unless there is a default", async (t) => {
  t.throws(() => parseSize("10"), { message: /^expected a number and a unit/ });
  t.equal(parseSize("10", "k"), 10_240n);
});

test("anything else is rejected with what is expected", async (t) => {
  for (const text of ["", "GiB", "-1 GiB", "1,5 TiB", "1e3 GiB", "10 XiB", "1 GiB 2"]) {
    t.throws(() => parseSize(text), RangeError, text);
  }
});
