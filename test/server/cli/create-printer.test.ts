import { test } from "tap";
import { createPrinter } from "../../../server/cli/create-printer.ts";
import type { Format } from "../../../server/cli/table/printer.ts";

function printing(format: Format, { isTerminal = false } = {}) {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const output = {
    out: write,
    err: write,
    ...(isTerminal ? { status: (line: string) => write(`\r${line}`) } : {}),
  };
  return { lines, printer: createPrinter(output, format) };
}

test("progress is a bar on a terminal, and a line for each change elsewhere", async (t) => {
  const terminal = printing("table", { isTerminal: true });
  terminal.printer.progress("active 50 %", 0.5);
  terminal.printer.progress("active 50 %", 0.5);
  terminal.printer.progress("active", undefined);
  t.strictSame(terminal.lines, [
    "\r[##########----------] active 50 %",
    "\r[##########----------] active 50 %",
    "\ractive",
  ]);
  const pipe = printing("table");
  for (const line of ["active", "active", "undoing"]) {
    pipe.printer.progress(line, 2);
  }
  t.strictSame(pipe.lines, ["active", "undoing"]);
});

test("a view has its facts in a column, without empty ones, and tables below", async (t) => {
  const { lines, printer } = printing("table");
  printer.view({
    lines: ["pool"],
    facts: [
      ["a name", "x\ny"],
      ["empty", ""],
    ],
    tables: [
      { head: ["A", "B"], rows: [["1\u001b[2J", "2"]] },
      { head: ["C"], rows: [] },
    ],
  });
  t.strictSame(lines, ["pool", "a name   x y", "", "A      B", "1\ufffd[2J  2", "", "C"]);
});

test("documents are JSON or YAML, one a line in streams", async (t) => {
  const json = printing("json");
  json.printer.document({ a: [1] });
  json.printer.documentInStream({ a: [1] });
  t.strictSame(json.lines, ['{\n  "a": [\n    1\n  ]\n}', '{"a":[1]}']);
  const yaml = printing("yaml");
  yaml.printer.document([{ a: "yes", long: "word ".repeat(30) }]);
  yaml.printer.documentInStream({ a: 1 });
  t.strictSame(yaml.lines, [`- a: yes\n  long: "${"word ".repeat(30)}"`, "---\na: 1"]);
});
