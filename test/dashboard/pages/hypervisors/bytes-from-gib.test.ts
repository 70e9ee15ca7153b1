import fc from "fast-check";
import { test } from "tap";
import { bytesFromGib } from "../../../../dashboard/pages/hypervisors/bytes-from-gib.ts";

test("a number of GiB is converted exactly to bytes", async (t) => {
  t.equal(bytesFromGib("1"), 1_073_741_824n);
  t.equal(bytesFromGib(" 0.5 "), 536_870_912n);
  t.equal(bytesFromGib("1,5"), 1_610_612_736n);
  t.equal(bytesFromGib("0.000000001"), 2n, "rounded up");
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 999_999_999 }),
      (gib) => bytesFromGib(`${gib}`) === BigInt(gib) * 1_073_741_824n,
    ),
  );
});

test("anything but a number above 0 has no bytes", async (t) => {
  for (const text of ["", "0", "0.0", "-1", "1e3", "1.2.3", "ten", "."]) {
    t.equal(bytesFromGib(text), undefined, text);
  }
  fc.assert(
    fc.property(fc.string(), (text) => {
      const bytes = bytesFromGib(text);
      return bytes === undefined || (bytes > 0n && Number.isFinite(Number(text.replace(",", "."))));
    }),
  );
});
