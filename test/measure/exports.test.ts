import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "tap";

const root = resolve(import.meta.dirname, "../..");

/** The text of each file by its path. */
type Files = ReadonlyMap<string, string>;

interface Export {
  readonly file: string;
  readonly keyword: string;
  readonly name: string;
}

/** The text that imports something of a file, and the file that contains it. */
interface Use {
  readonly from: string;
  readonly text: string;
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

/** The formatter puts every export at the start of a line. What a file exports again (`export {`) is a use of it. */
function exportsOf(file: string, text: string): Export[] {
  const found = text.matchAll(/^export (?:async )?(function\*?|const|interface|type|class) (\w+)/gm);
  return [...found].map(([, keyword = "", name = ""]) => ({ file, keyword, name }));
}

/**
 * Returns the uses of every file. A static import names what it uses. A file that is imported as a whole (`* as`), imported by a call
 * or loaded in a thread by its address, is used by whatever the text names.
 */
function usesOf(files: Files): ReadonlyMap<string, readonly Use[]> {
  const uses = new Map<string, Use[]>();
  const add = (from: string, specifier: string, text: string) => {
    const path = resolve("/", dirname(from), specifier).slice(1);
    const file = /\.\w+$/.test(path) ? path : `${path}.ts`;
    uses.set(file, [...(uses.get(file) ?? []), { from, text }]);
  };
  for (const [file, text] of files) {
    for (const [, clause = "", name = ""] of text.matchAll(
      /^(?:import|export)\b([^;"]*?)\bfrom "(\.[^"]+)"/gm,
    )) {
      add(file, name, clause.includes("*") ? text : clause);
    }
    for (const [, name = ""] of text.matchAll(/\b(?:import|moduleUrl)\(\s*"(\.[^"]+)"/g)) {
      add(file, name, text);
    }
  }
  return uses;
}

/** Programs in test/ that are built of the gateway's modules, as the gateway itself is. */
const testPrograms = /^test\/conformance\//;

/**
 * Returns the exports without a use, each with what is wrong. A type may be exported that only its own file names, since callers
 * handle values of it. What only tests import must at least be used by its own file.
 */
function unusedExports(files: Files): string[] {
  const uses = usesOf(files);
  return [...files]
    .filter(([file]) => !file.startsWith("test/"))
    .flatMap(([file, text]) => exportsOf(file, text))
    .flatMap(({ file, keyword, name }) => {
      const word = new RegExp(`\\b${name}\\b`, "g");
      const users = (uses.get(file) ?? []).filter(({ text }) => text.match(word) !== null);
      if (users.some(({ from }) => !from.startsWith("test/") || testPrograms.test(from))) {
        return [];
      }
      const code = (files.get(file) ?? "").replaceAll(/^\s*(\/\/|\/?\*).*/gm, "");
      const isUsedHere = (code.match(word)?.length ?? 0) > 1;
      if (isUsedHere && (users.length > 0 || /interface|type/.test(keyword))) {
        return [];
      }
      const fault = isUsedHere
        ? "only its own file uses it"
        : `${users.length > 0 ? "only tests use" : "nothing uses"} it`;
      return [`${file}: ${name}: ${fault}`];
    });
}

test("an export counts as used if another file imports it by its name", async (t) => {
  const unused = (text: string, ...importers: (readonly [file: string, text: string])[]) =>
    unusedExports(new Map([["server/a.ts", text], ...importers]));
  const f = "export function f() {}\n";
  t.same(unused(f), ["server/a.ts: f: nothing uses it"]);
  t.same(unused(`${f}f();\n`), ["server/a.ts: f: only its own file uses it"]);
  t.same(unused(`/** Like f. */\n${f}`), ["server/a.ts: f: nothing uses it"]);
  t.same(unused(f, ["server/b.ts", 'import { f } from "./a.ts";\n']), []);
  t.same(unused(f, ["server/b.ts", 'import {\n  type G,\n  f,\n} from "./a.ts";\n']), []);
  t.same(unused(f, ["server/b.ts", 'import * as a from "./a.ts";\na.f();\n']), []);
  t.same(unused(f, ["server/b.ts", 'export { f } from "./a.ts";\n']), []);
  t.same(unused(f, ["server/b.ts", 'const { f } = await import("./a.ts");\n']), []);
  t.same(unused(f, ["server/b.ts", 'import { f } from "./c.ts";\n']), ["server/a.ts: f: nothing uses it"]);
  t.same(unused(f, ["server/b.ts", 'import { g } from "./a.ts";\nf();\n']), [
    "server/a.ts: f: nothing uses it",
  ]);
  t.same(unused(f, ["test/a.test.ts", 'import { f } from "../server/a.ts";\n']), [
    "server/a.ts: f: only tests use it",
  ]);
  t.same(unused(`${f}f();\n`, ["test/a.test.ts", 'import { f } from "../server/a.ts";\n']), []);
  t.same(
    unused("export interface A {}\nexport function f(a: A) {}\n", [
      "server/b.ts",
      'import { f } from "./a.ts";\n',
    ]),
    [],
  );
  t.same(unused("export interface A {}\n"), ["server/a.ts: A: nothing uses it"]);
});

/** Files that other programs load: users of the client, the browser and Vite. */
const entryPoints = /^(client\/client|dashboard\/vite\.config)\.ts$/;

test("every export is used by another file", async (t) => {
  const folders = ["adapters", "client", "dashboard", "packaging", "server", "test"];
  const paths = ["dev.ts", "rolldown.config.ts", "start-fleet.ts", ...folders.flatMap(filesBelow)];
  const files = new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
  t.ok(files.size > 1000, "files were found");
  t.same(
    unusedExports(files).filter((fault) => !entryPoints.test(fault.replace(/:.*/, ""))),
    [],
  );
});
