import { test } from "tap";
import { readPage } from "../docs/markdown.ts";
import { benches } from "./benches.ts";
import { createFanOut } from "./fan-out/fan-out.ts";
import { describeMachine, withResults } from "./report.ts";

const bench = createFanOut();
const result = {
  bench,
  baseline: 2,
  ours: 3.005,
  ratio: 1.5,
  minRatio: 1.25,
  maxRatio: 1.756,
};

test("results take the place of those that the page had, and nothing else", async (t) => {
  const page = "# A\n\n<!-- written by npm run bench -->\nold\n<!-- as far as here -->\n\nThe rest.\n";
  const once = withResults(page, [result], "A machine.");
  t.match(once, /^# A\n\n<!-- written/);
  t.match(once, "| **1.50** (1.25 to 1.76) | 3.00 |\n\nA machine.\n\n<!-- as far as here -->\n\nThe rest.\n");
  t.notMatch(once, "old");
  t.equal(withResults(once, [result], "A machine."), once, "the same again changes nothing");
  t.throws(() => withResults("# A\n", [result], "A machine."), /has no/);
});

test("docs/benchmarks.md has a figure for each bench, and says where it was measured", async (t) => {
  const page = readPage("docs/benchmarks.md");
  for (const { what } of benches) {
    t.match(page, `\n| ${what} | `);
  }
  t.match(page, /\nMeasured on 20\d\d-\d\d-\d\d with Node /);
  t.match(describeMachine(new Date(0)), /^Measured on 1970-01-01 with Node \d/);
});
