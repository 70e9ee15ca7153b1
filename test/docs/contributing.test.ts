import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { readPage, root, tableBelow } from "./markdown.ts";

const manifest: Record<string, Record<string, string>> & {
  readonly version: string;
  readonly private?: boolean;
} = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

for (const kind of ["dependencies", "devDependencies", "optionalDependencies"]) {
  test(`docs/contributing/libraries.md has a reason for exactly the ${kind} of package.json`, async (t) => {
    const rows = tableBelow(readPage("docs/contributing/libraries.md"), `## ${kind}`);
    t.same(
      rows.map(([name]) => (name ?? "").replaceAll("`", "")).sort(),
      Object.keys(manifest[kind] ?? {}).sort(),
    );
    for (const row of rows) {
      t.ok(row[1], row[0] ?? "");
    }
  });
}

test("docs/contributing/libraries.md has a reason for exactly the tools", async (t) => {
  const { devDependencies } = JSON.parse(readFileSync(join(root, "tools/package.json"), "utf8"));
  const rows = tableBelow(readPage("docs/contributing/libraries.md"), "## tools/package.json");
  t.same(rows.map(([name]) => (name ?? "").replaceAll("`", "")).sort(), Object.keys(devDependencies).sort());
});

test("the package cannot be published to the registry by accident", async (t) => {
  t.equal(manifest.private, true);
});

test("the changelog mentions the version of package.json, released or next", async (t) => {
  t.match(
    readPage("CHANGELOG.md"),
    new RegExp(`^## \\[${manifest.version}\\]|^To be ${manifest.version}\\b`, "m"),
  );
});
