import { test } from "tap";
import { readPage } from "../../docs/markdown.ts";
import { benches } from "../benches.ts";
import { createFanOut } from "../fan-out/fan-out.ts";
import { createClusterList } from "../systems/cluster-list.ts";
import { committedFigure, describeMachine, withResults } from "./report.ts";

const [bench, other] = [createFanOut(), createClusterList()];
const result = {
  bench: { ...bench, maxRatio: 2 },
  baseline: 2,
  ours: 3.005,
  figure: 1.5,
  minFigure: 1.25,
  maxFigure: 1.756,
};
const report = { benches: [bench, other], results: [result], now: new Date(0), machine: "A machine." };

test("results replace those on the page, and nothing else", async (t) => {
  const page = "# A\n\n<!-- written by npm run bench -->\nold\n<!-- end of npm run bench -->\n\nThe rest.\n";
  const once = withResults(page, report);
  t.match(once, /^# A\n\n<!-- written/);
  t.match(
    once,
    "| **1.50** (1.25 to 1.76) | at most 2.00 | 1970-01-01 |\n\nA machine.\n\n<!-- end of npm run bench -->\n\nThe rest.\n",
  );
  t.notMatch(once, "old");
  t.equal(withResults(once, report), once, "writing them again changes nothing");
  t.throws(() => withResults("# A\n", report), /has no/);
});

test("a benchmark that could not run keeps its row in its place", async (t) => {
  const row = `| ${other.what} | before |`;
  const page = `<!-- written by npm run bench -->\n${row}\n<!-- end of npm run bench -->\n`;
  t.match(withResults(page, report), `1970-01-01 |\n${row}\n\nA machine.`);
  t.notMatch(withResults(page, { ...report, benches: [bench] }), "before", "a removed benchmark has no row");
});

test("a missed goal is marked, and the figure is read back", async (t) => {
  const page = "<!-- written by npm run bench -->\n<!-- end of npm run bench -->\n";
  const missed = withResults(page, { ...report, results: [{ ...result, figure: 2.5 }] });
  t.match(missed, "| at most 2.00 (missed) |");
  t.equal(committedFigure(missed, bench), "2.50");
  t.equal(committedFigure(missed, other), undefined);
});

test("docs/reference/benchmarks.md has a figure for each benchmark, and names the machine", async (t) => {
  const page = readPage("docs/reference/benchmarks.md");
  for (const one of benches) {
    t.ok(committedFigure(page, one), one.name);
  }
  t.match(page, /\nMeasured with Node /);
  t.match(describeMachine(), /^Measured with Node \d/);
});
