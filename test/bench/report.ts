import { cpus, release, totalmem, type } from "node:os";
import type { Result } from "./measure.ts";

const begin = "<!-- written by npm run bench -->";
const end = "<!-- as far as here -->";

/**
 * The page with these results in place of the ones it had.
 * @throws Error when the page has no place for them
 */
export function withResults(page: string, results: readonly Result[], machine: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from === -1 || to < from) {
    throw new Error(`the page has no ${begin} with ${end} below it`);
  }
  const head = ["| what | baseline | hostplane | ratio (of the rounds) | at most |", "|---|---|---|---|---|"];
  const table = [...head, ...results.map(rowOf)].join("\n");
  return `${page.slice(0, from)}${begin}\n\n${table}\n\n${machine}\n\n${page.slice(to)}`;
}

function rowOf({ bench, baseline, ours, ratio, minRatio, maxRatio }: Result): string {
  const cells = [
    bench.what,
    `${bench.baseline}: ${baseline.toFixed(2)} ${bench.unit}`,
    `${ours.toFixed(2)} ${bench.unit}`,
    `**${ratio.toFixed(2)}** (${minRatio.toFixed(2)} to ${maxRatio.toFixed(2)})`,
    bench.maxRatio.toFixed(2),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** What the results depend on: day, Node, system and machine. */
export function describeMachine(now: Date): string {
  const cores = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  const [system = ""] = release().split("-");
  const day = now.toISOString().slice(0, 10);
  return `Measured on ${day} with Node ${process.versions.node} on ${type()} ${system}: ${cores.length} cores (${cores[0]?.model ?? "unknown"}), ${gib} GiB.`;
}
