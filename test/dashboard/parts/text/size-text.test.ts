import { test } from "tap";
import { sizeText } from "../../../../dashboard/parts/text/size-text.ts";

test("sizes have at most three digits, in powers of 1024", async (t) => {
  t.equal(sizeText(0), "0 B");
  t.equal(sizeText(1023n), "1023 B");
  t.equal(sizeText(1536), "1.5 KiB");
  t.equal(sizeText(10n * 1024n ** 3n), "10 GiB");
  t.equal(sizeText(107_374_182_400n + 5n), "100 GiB");
  t.equal(sizeText(2 ** 60), "1024 PiB");
});
