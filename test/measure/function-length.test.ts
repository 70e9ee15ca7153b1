import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { test } from "tap";
import ts from "typescript";

const root = resolve(import.meta.dirname, "../..");

/** Lines that a function may have. The functions inside of it count for themselves. */
const mostLines = 80;

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

/** Returns the functions of a source text that are too long, such as `createApp (line 12): 95 lines`. */
function longFunctions(text: string, fileName: string): string[] {
  const source = ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const isWithBody = (node: ts.Node) => ts.isFunctionLike(node) && "body" in node && node.body !== undefined;

  /** Visits a node, and returns how many of its lines belong to the functions in it. */
  function linesOfFunctions(node: ts.Node): number {
    let inner = 0;
    ts.forEachChild(node, (child) => {
      inner += linesOfFunctions(child);
    });
    if (!isWithBody(node)) {
      return inner;
    }
    const [first, last] = [lineOf(node.getStart(source)), lineOf(node.end)];
    const own = last - first + 1 - inner;
    if (own > mostLines) {
      const name = (node as ts.FunctionLikeDeclaration).name?.getText(source) ?? "a function";
      found.push(`${name} (line ${first + 1}): ${own} lines`);
    }
    // The line on which it starts is one of the function around it.
    return last - first;
  }

  linesOfFunctions(source);
  return found;
}

test("the lines of a function count, and those of the functions inside of it do not", async (t) => {
  const lines = (count: number) => "  f();\n".repeat(count);
  t.same(longFunctions(`function a() {\n${lines(79)}}\n`, "a.ts"), ["a (line 1): 81 lines"]);
  t.same(longFunctions(`function a() {\n${lines(78)}}\n`, "a.ts"), []);
  t.same(longFunctions(`function a() {\n${lines(50)}const b = () => {\n${lines(50)}};\n}\n`, "a.ts"), []);
});

test("a function has at most 80 lines", async (t) => {
  for (const folder of ["adapters", "client", "dashboard", "packaging", "server"]) {
    for (const file of sourceFiles(folder)) {
      const long = longFunctions(readFileSync(join(root, file), "utf8"), file);
      if (long.length > 0) {
        t.fail(`${file}: ${long.join(", ")}`);
      }
    }
  }
});
