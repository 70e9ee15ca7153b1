import { stringify } from "yaml";
import type { Output } from "./table/output.ts";
import { printableLine } from "./table/printable-line.ts";
import type { Format, Printer } from "./table/printer.ts";
import { textTable } from "./table/text-table.ts";
import type { View } from "./table/view.ts";

const barWidth = 20;

/** Creates a printer that writes to `output`. */
export function createPrinter(output: Output, format: Format): Printer {
  let last: string | undefined;
  const table: Printer["table"] = ({ head, rows }, below = []) => {
    const [first = "", ...lines] = textTable(
      head,
      rows.map((row) => row.map(printableLine)),
    );
    for (const line of [first, ...lines.flatMap((line, index) => [line, ...(below[index] ?? [])])]) {
      output.out(line);
    }
  };
  return {
    format,
    isTerminal: output.status !== undefined,
    out: (line) => output.out(line),
    err: (line) => output.err(printableLine(line)),
    table,
    document(json) {
      output.out(format === "yaml" ? yamlOf(json) : JSON.stringify(json, null, 2));
    },
    documentInStream(json) {
      output.out(format === "yaml" ? `---\n${yamlOf(json)}` : JSON.stringify(json));
    },
    view: (view) => printView(view, output, table),
    progress(line, fraction) {
      if (output.status !== undefined) {
        output.status(fraction === undefined ? line : `${bar(fraction)} ${line}`);
      } else if (line !== last) {
        output.out(line);
        last = line;
      }
    },
    drained: async (signal) => output.drained?.(signal),
  };
}

function printView(
  { facts = [], tables = [], lines = [] }: View,
  output: Output,
  table: Printer["table"],
): void {
  const known = facts.filter(([, value]) => value !== "");
  const width = Math.max(8, ...known.map(([name]) => name.length));
  for (const line of lines) {
    output.out(printableLine(line));
  }
  for (const [name, value] of known) {
    output.out(printableLine(`${name.padEnd(width)} ${value}`));
  }
  for (const [index, each] of tables.entries()) {
    if (index > 0 || known.length > 0) {
      output.out("");
    }
    table(each);
  }
}

function yamlOf(json: unknown): string {
  return stringify(json, { lineWidth: 0 }).trimEnd();
}

function bar(fraction: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, fraction)) * barWidth);
  return `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}]`;
}
