import { test } from "tap";
import { printableLine } from "../../../../server/cli/table/printable-line.ts";

test("a text is printed as one line that looks as it is written", async (t) => {
  t.equal(printableLine("one\n  two\r\nthree"), "one two three");
  t.equal(printableLine("a\u001b[2Kb\u009b1m"), "a\ufffd[2Kb\ufffd1m", "no sequence of a terminal");
  t.equal(
    printableLine("delete \u202ebd\u2066-bew\u2069"),
    "delete \ufffdbd\ufffd-bew\ufffd",
    "no reordering",
  );
  t.equal(printableLine("größe 音 é"), "größe 音 é");
});
