import { cpus, release, totalmem, type } from "node:os";
import type { Bench } from "../bench.ts";
import { judgeOf, numberText } from "./goal.ts";
import type { Result } from "./measure.ts";

const begin = "<!-- written by npm run bench -->";
const end = "<!-- end of npm run bench -->";
const head = [
  "| what | baseline | hostplane | ratio (range of the rounds) | goal | measured |",
  "|---|---|---|---|---|---|",
];

export interface Report {
  /** In the order of the table. */
  readonly benches: readonly Bench[];
  /** Results of the benchmarks that ran. */
  readonly results: readonly Result[];
  readonly now: Date;
  /** Text of `describeMachine()`. */
  readonly machine: string;
}

/**
 * Replaces the results on the page. A benchmark that could not run keeps its row.
 * @throws Error when the page has no place for results
 */
export function withResults(page: string, { benches, results, now, machine }: Report): string {
  const { from, to } = placeOf(page);
  const day = now.toISOString().slice(0, 10);
  const rows = benches.flatMap((bench) => {
    const result = results.find((one) => one.bench.name === bench.name);
    return result === undefined ? (rowOf(page, bench) ?? []) : rowFrom(result, day);
  });
  const table = [...head, ...rows].join("\n");
  return `${page.slice(0, from)}${begin}\n\n${table}\n\n${machine}\n\n${page.slice(to)}`;
}

/** Returns the figure of a benchmark on the page, as text; undefined if there is none. */
export function committedFigure(page: string, bench: Bench): string | undefined {
  return rowOf(page, bench)?.match(/\*\*(.+?)\*\*/)?.[1];
}

/** Returns the position of the results. @throws Error when there is none */
function placeOf(page: string): { readonly from: number; readonly to: number } {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from === -1 || to < from) {
    throw new Error(`the page has no ${begin} followed by ${end}`);
  }
  return { from, to };
}

function rowOf(page: string, { what }: Bench): string | undefined {
  const { from, to } = placeOf(page);
  return page
    .slice(from, to)
    .split("\n")
    .find((line) => line.startsWith(`| ${what} | `));
}

function rowFrom({ bench, baseline, ours, figure, minFigure, maxFigure }: Result, day: string): string {
  const { say, goal, isMet } = judgeOf(bench);
  const cells = [
    bench.what,
    `${bench.baseline}: ${numberText(baseline)} ${bench.unit}`,
    `${numberText(ours)} ${bench.unit}`,
    `**${say(figure)}** (${say(minFigure)} to ${say(maxFigure)})`,
    `${goal}${isMet(figure) ? "" : " (missed)"}`,
    day,
  ];
  return `| ${cells.join(" | ")} |`;
}

/** Describes what the results depend on: Node, system and machine. */
export function describeMachine(): string {
  const cores = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  const [system = ""] = release().split("-");
  return `Measured with Node ${process.versions.node} on ${type()} ${system}: ${cores.length} cores (${cores[0]?.model ?? "unknown"}), ${gib} GiB.`;
}
