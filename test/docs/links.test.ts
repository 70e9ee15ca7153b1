import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "tap";
import { anchorsOf, blocksOf, pages, readPage, root } from "./markdown.ts";

const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);

test("every link to a file of the project or to a heading in it is valid", async (t) => {
  let count = 0;
  for (const page of pages()) {
    const text = readPage(page).replaceAll(/^```[\s\S]*?^```$/gm, "");
    for (const [, target = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) {
        continue;
      }
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? page : normalize(join(dirname(page), path));
      t.ok(existsSync(join(root, file)), `${page}: ${target}`);
      if (anchor !== undefined) {
        t.ok(anchorsOf(readPage(file)).has(anchor), `${page}: ${target}`);
      }
      count += 1;
    }
  }
  t.ok(count > 20, `${count} links`);
});

test("every npm script that a page names exists", async (t) => {
  for (const page of pages()) {
    for (const [command, run, short] of readPage(page).matchAll(
      /\bnpm (?:run (\w[\w:-]*)|(start|test)\b)/g,
    )) {
      t.ok(scripts[run ?? short ?? ""], `${page}: ${command}`);
    }
  }
});

test("blocks on pages have a language, and runnable ones a language that can be run", async (t) => {
  for (const page of ["README.md", ...pages().filter((name) => name.startsWith("docs/"))]) {
    for (const { language, line, mark } of blocksOf(readPage(page))) {
      t.ok(language !== "", `${page}:${line} names its language`);
      if (mark.startsWith("run")) {
        t.ok(["sh", "ts", "python"].includes(language), `${page}:${line}`);
      }
    }
  }
});

test("docs/README.md lists every page below docs/", async (t) => {
  const index = readPage("docs/README.md");
  for (const page of pages().filter((name) => name.startsWith("docs/") && name !== "docs/README.md")) {
    t.ok(index.includes(`](${page.replace("docs/", "")})`), page);
  }
});

test("every page of docs/ is on one shelf", async (t) => {
  const shelves =
    /^docs\/(tutorials|how-to(\/orchestrators)?|reference(\/domains)?|explanation|contributing)\/[a-z-]+\.md$/;
  for (const page of pages().filter((name) => name.startsWith("docs/") && name !== "docs/README.md")) {
    t.match(page, shelves);
  }
});

test("the glossary has each term once, in alphabetical order", async (t) => {
  const rows = readPage("docs/reference/glossary.md").matchAll(/^\| <a id="([\w-]+)"><\/a>([^|]+) \|/gm);
  const terms = [...rows].map(([, id = "", term = ""]) => ({ id, term }));
  t.ok(terms.length > 20, `${terms.length} terms`);
  t.same(
    terms.map(({ term }) => term),
    [...new Set(terms.map(({ term }) => term))].toSorted((a, b) => a.localeCompare(b, "en")),
  );
  for (const { id, term } of terms) {
    t.equal(id, term.toLowerCase().replaceAll(" ", "-"));
  }
});

test("every source file that a page of docs/ names exists", async (t) => {
  const argv = ["ls-files", "--cached", "--others", "--exclude-standard"];
  const files = execFileSync("git", argv, { cwd: root, encoding: "utf8" }).trim().split("\n");
  let count = 0;
  for (const page of pages().filter((name) => name.startsWith("docs/"))) {
    const text = readPage(page);
    // Files that the reader creates.
    const created = [...text.matchAll(/^`([\w/.-]+)`:\n\n```/gm)].map(([, path]) => path);
    for (const [, path = ""] of text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/`([\w/.-]+\.tsx?)`/g)) {
      const isKnown = files.some((file) => `/${file}`.endsWith(`/${path}`));
      t.ok(isKnown || created.includes(path), `${page}: ${path}`);
      count += 1;
    }
  }
  t.ok(count > 50, `${count} files`);
});

test("every page of docs/ that a file of the project names exists", async (t) => {
  const argv = ["grep", "-hoE", "--untracked", "\\bdocs/[a-z/-]+\\.md", "--", ":!CHANGELOG.md", ":!*.binpb"];
  const named = new Set(execFileSync("git", argv, { cwd: root, encoding: "utf8" }).trim().split("\n"));
  for (const page of named) {
    t.ok(existsSync(join(root, page)), page);
  }
  t.ok(named.size > 10, `${named.size} pages`);
});
