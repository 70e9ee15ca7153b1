import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { benches } from "../benches.ts";
import { judgeOf } from "../figures/goal.ts";
import { median, resultOf } from "../figures/measure.ts";
import { describeMachine, withResults } from "../figures/report.ts";
import type { FleetSample } from "./many-clients.ts";
import { fleetBenches, openFleets } from "./many-clients-benches.ts";

// npm run bench -- many-clients [--write] [--connections 1000] [--streams 5] [--seconds 10] [--rounds 5]: thousands of parallel
// Watch streams; all figures come from the same rounds. Fails when a goal is missed.

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    write: { type: "boolean", default: false },
    connections: { type: "string", default: "1000" },
    streams: { type: "string", default: "5" },
    seconds: { type: "string", default: "10" },
    rounds: { type: "string", default: "5" },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const rounds: { readonly quiet: FleetSample; readonly loaded: FleetSample }[] = [];

await using opened = new AsyncDisposableStack();
const { quiet, loaded } = await openFleets(opened, [], {
  connections: Number(values.connections),
  streamsPerConnection: Number(values.streams),
  durationMs: Number(values.seconds) * 1_000,
});
for (let round = 0; round <= Number(values.rounds); round += 1) {
  const pair = { quiet: await quiet.measure(), loaded: await loaded.measure() };
  // Compilers and caches are cold in the first round.
  if (round > 0) {
    rounds.push(pair);
  }
}

const units: Readonly<Record<keyof FleetSample, string>> = {
  rssMb: "maximum RSS, MB",
  eventP50Ms: "event, p50, ms",
  eventP99Ms: "event, p99, ms",
  eventMaxMs: "event, maximum, ms",
  behind: "streams that missed a change",
  listP99Ms: "list, p99, ms",
  changesPerSecond: "changes per second",
  changeP50Ms: "change, p50, ms",
  changeP99Ms: "change, p99, ms",
  messagesPerSecond: "Watch messages per second",
  gatewayCpuShare: "cores of the gateway",
  mainThreadCpuShare: "cores of its main thread",
  watchersCpuShare: "cores of the watchers",
};
say("medians of the rounds: with one connection; with all");
for (const [key, name] of Object.entries(units) as [keyof FleetSample, string][]) {
  const of = (side: "quiet" | "loaded") => median(rounds.map((round) => round[side][key])).toFixed(2);
  say(`${name}: ${of("quiet")}; ${of("loaded")}`);
}
const results = fleetBenches.map(({ bench, figureOf }) =>
  resultOf(
    bench,
    rounds.map((round) => ({ baseline: figureOf(round.quiet), ours: figureOf(round.loaded) })),
  ),
);
for (const { bench, figure, minFigure, maxFigure } of results) {
  const { say: text, goal, isMet } = judgeOf(bench);
  const spread = `${text(minFigure)} to ${text(maxFigure)}`;
  say(`${bench.name}: ${text(figure)} (${spread}), ${goal}${isMet(figure) ? "" : ", missed"}`);
}
if (values.write) {
  const pagePath = resolve(import.meta.dirname, "../../../docs/reference/benchmarks.md");
  const report = { benches, results, now: new Date(), machine: describeMachine() };
  writeFileSync(pagePath, withResults(readFileSync(pagePath, "utf8"), report));
}
process.exitCode = results.every(({ bench, figure }) => judgeOf(bench).isMet(figure)) ? 0 : 1;
