import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { test } from "tap";
import { commandText } from "../../../../dashboard/parts/text/command-text.ts";

test("a command is formatted as it is typed", async (t) => {
  t.equal(commandText(["lvcreate", "-L", "10g", "vg0/data"]), "lvcreate -L 10g vg0/data");
  t.equal(commandText(["sh", "-c", "echo 'it'", ""]), `sh -c 'echo '\\''it'\\''' ''`);
});

test("a shell splits any formatted command into the same words", async () => {
  const word = fc.string({ unit: "binary-ascii" }).filter((text) => !text.includes("\0"));
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), (words) => {
      const printed = execFileSync("/bin/sh", ["-c", `printf '%s\\0' ${commandText(["--", ...words])}`], {
        encoding: "utf8",
      });
      const [, ...read] = printed.split("\0").slice(0, -1);
      return JSON.stringify(read) === JSON.stringify(words);
    }),
    { numRuns: 30 },
  );
});
