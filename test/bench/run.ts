import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { benches } from "./benches.ts";
import { measure, type Result } from "./measure.ts";
import { describeMachine, withResults } from "./report.ts";

// npm run bench [-- NAME...]: measures, and writes docs/benchmarks.md if that was all of them. Fails when a
// ratio is above what is allowed.

const { positionals } = parseArgs({ allowPositionals: true });
const chosen = positionals.length === 0 ? benches : benches.filter(({ name }) => positionals.includes(name));
const say = (line: string) => process.stdout.write(`${line}\n`);

const results: Result[] = [];
for (const bench of chosen) {
  const skipReason = bench.skipReason?.() ?? false;
  if (skipReason !== false) {
    say(`${bench.name}: skipped, ${skipReason}`);
    continue;
  }
  say(`${bench.name}: ${bench.what}, against ${bench.baseline}`);
  const result = await measure(bench);
  const { baseline, ours, ratio, minRatio, maxRatio } = result;
  say(`  baseline ${baseline.toFixed(2)}, hostplane ${ours.toFixed(2)} ${bench.unit}`);
  const spread = `${minRatio.toFixed(2)} to ${maxRatio.toFixed(2)} in ${bench.rounds} rounds`;
  say(`  ratio ${ratio.toFixed(2)} (${spread}), at most ${bench.maxRatio.toFixed(2)}`);
  results.push(result);
}
if (results.length === benches.length) {
  const page = resolve(import.meta.dirname, "../../docs/benchmarks.md");
  writeFileSync(page, withResults(readFileSync(page, "utf8"), results, describeMachine(new Date())));
}
process.exitCode = chosen.length > 0 && results.every(({ ratio, bench }) => ratio <= bench.maxRatio) ? 0 : 1;
