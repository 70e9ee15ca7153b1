import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Bench } from "./bench.ts";
import { benches } from "./benches.ts";
import { judgeOf, numberText } from "./figures/goal.ts";
import { measure, type Result } from "./figures/measure.ts";
import { describeProfiles } from "./figures/profile.ts";
import { committedFigure, describeMachine, withResults } from "./figures/report.ts";

// npm run bench: runs all benchmarks, and writes docs/reference/benchmarks.md. Fails when a goal is missed.
//   NAME...         runs only these, and writes nothing; `fleet` is all whose names begin with `fleet-`
//   --write NAME... runs only these, and writes their rows
//   --short         runs few rounds of those that need only Node; writes nothing and ignores goals
//   hostile         the worst that callers without a login can do (hostile/run-hostile.ts); runs alone
//   many-clients    thousands of streams at once (many-clients/run-many-clients.ts); runs alone
//   --profile NAME  runs one benchmark, and profiles hostplane's process

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    profile: { type: "string" },
  },
});
const isShort = values.short;
const names = values.profile === undefined ? positionals : [values.profile];
const isMeant = (bench: Bench, name: string) => bench.name === name || bench.name.startsWith(`${name}-`);
const unknown = names.filter((name) => !benches.some((bench) => isMeant(bench, name)));
const chosen = benches.filter((bench) =>
  names.length > 0 ? names.some((name) => isMeant(bench, name)) : !(isShort && bench.isLab === true),
);
const pagePath = resolve(import.meta.dirname, "../../docs/reference/benchmarks.md");
const page = readFileSync(pagePath, "utf8");
const say = (line: string) => process.stdout.write(`${line}\n`);

if (unknown.length > 0) {
  say(
    `unknown benchmark: ${unknown.join(", ")}; expected one of: ${benches.map(({ name }) => name).join(", ")}`,
  );
  process.exit(1);
}

async function measureAndSay(bench: Bench, nodeFlags: readonly string[]): Promise<Result | undefined> {
  const skipReason = (await bench.skipReason?.()) ?? false;
  if (skipReason !== false) {
    say(`${bench.name}: skipped, ${skipReason}`);
    return;
  }
  say(`${bench.name}: ${bench.what}, compared with ${bench.baseline}`);
  const result = await measure(bench, nodeFlags);
  const { baseline, ours, figure, minFigure, maxFigure } = result;
  const { say: sayFigure, goal, isMet } = judgeOf(bench);
  say(`  baseline ${numberText(baseline)}, hostplane ${numberText(ours)} ${bench.unit}`);
  const spread = `${sayFigure(minFigure)} to ${sayFigure(maxFigure)} in ${bench.rounds} rounds`;
  const before = committedFigure(page, bench) ?? "nothing";
  const verdict = `${goal}${isMet(figure) ? "" : ", missed"}`;
  say(`  ${sayFigure(figure)} (${spread}), ${verdict}; docs/reference/benchmarks.md has ${before}`);
  return result;
}

const results: Result[] = [];
const profileDirectory =
  values.profile === undefined ? undefined : mkdtempSync(join(tmpdir(), "hostplane-profile-"));
const nodeFlags =
  profileDirectory === undefined
    ? []
    : ["--cpu-prof", "--cpu-prof-interval=500", `--cpu-prof-dir=${profileDirectory}`];
for (const bench of chosen) {
  const measured = isShort ? { ...bench, rounds: 2, coldRounds: Math.min(2, bench.coldRounds) } : bench;
  results.push(...[(await measureAndSay(measured, nodeFlags)) ?? []].flat());
}
if (profileDirectory !== undefined) {
  say(describeProfiles(profileDirectory, resolve(import.meta.dirname, "../..")));
  rmSync(profileDirectory, { recursive: true });
}
if (values.write || (names.length === 0 && !isShort)) {
  const report = { benches, results, now: new Date(), machine: describeMachine() };
  writeFileSync(pagePath, withResults(page, report));
}
process.exitCode = isShort || results.every(({ bench, figure }) => judgeOf(bench).isMet(figure)) ? 0 : 1;
