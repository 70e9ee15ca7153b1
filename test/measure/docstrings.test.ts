import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { test } from "tap";

const root = resolve(import.meta.dirname, "../..");

/**
 * Returns the exported functions of a source text that have no docstring, such as `createApp (line 12)`. The first signature of an
 * overloaded function has the docstring of all. The formatter puts every export at the start of a line.
 */
function functionsWithoutDocstring(text: string): string[] {
  const functions = [
    ...text.matchAll(/^export (?:async )?function\*? (\w+)/gm),
    ...text.matchAll(/^export const (\w+)\b[^=]*= (?:async )?(?:<.*>)?(?:\(|\w+ =>)/gm),
  ];
  const documented = new Set<string>();
  return functions.flatMap(({ 1: name = "", index }) => {
    const before = text.slice(0, index);
    if (before.endsWith("*/\n")) {
      documented.add(name);
    }
    return documented.has(name) ? [] : [`${name} (line ${before.split("\n").length})`];
  });
}

test("a docstring ends on the line above the function", async (t) => {
  t.same(functionsWithoutDocstring("export function a() {}\n"), ["a (line 1)"]);
  t.same(functionsWithoutDocstring("/** B. */\n\nexport async function a() {}\n"), ["a (line 3)"]);
  t.same(functionsWithoutDocstring("/** A. */\nexport function* a() {}\n"), []);
  t.same(functionsWithoutDocstring("/** A. */\nexport function a(): void;\nexport function a() {}\n"), []);
  t.same(functionsWithoutDocstring("export const a = (b: number) => b;\n"), ["a (line 1)"]);
  t.same(functionsWithoutDocstring("export const a: F = async (b) => b;\n"), ["a (line 1)"]);
  t.same(functionsWithoutDocstring("export const a = b(() => 1);\nfunction c() {}\n"), []);
});

test("every exported function has a docstring", async (t) => {
  const files = ["adapters", "client", "dashboard", "packaging", "server"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  t.ok(files.length > 1000, "files were found");
  for (const file of files) {
    const found = functionsWithoutDocstring(readFileSync(file, "utf8"));
    if (found.length > 0) {
      t.fail(`${relative(root, file)}: ${found.join(", ")}`);
    }
  }
});
