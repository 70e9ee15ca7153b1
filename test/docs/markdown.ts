import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

/** Returns every page of the project, as paths from its root. */
export function pages(): string[] {
  const skipped = /(^|\/)(node_modules|dist|data|coverage|\.tap)(\/|$)/;
  return globSync("**/*.md", { cwd: root, exclude: (name) => skipped.test(name) }).toSorted();
}

export function readPage(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

/** A fenced block on a page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** Number of the line where the block starts. */
  readonly line: number;
  /** The comment in the line above: `run`, `run: needs TOOL`, `prints` or `settings`; empty if there is none. */
  readonly mark: string;
}

/** Returns the fenced blocks of a page in order. */
export function blocksOf(text: string): Block[] {
  const fences = text.matchAll(
    /^(?:<!-- (run(?:: needs \w+)?|prints|settings) -->\n)?```(\w*)\n([\s\S]*?)^```$/gm,
  );
  return [...fences].map(({ 1: mark = "", 2: language = "", 3: body = "", index }) => ({
    language,
    text: body,
    line: text.slice(0, index).split("\n").length,
    mark,
  }));
}

/** Returns the anchors of a page: those of its headings, and `<a id="...">`. */
export function anchorsOf(text: string): Set<string> {
  const outside = text.replaceAll(/^```[\s\S]*?^```$/gm, "");
  const headings = [...outside.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  const named = [...outside.matchAll(/<a id="([\w-]+)">/g)].map(([, id = ""]) => id);
  const slugs = headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(/\s/g, "-"),
  );
  return new Set([...slugs, ...named]);
}

/** Returns the cells of the first table below the heading, without its header rows. @throws Error without the heading */
export function tableBelow(text: string, heading: string): string[][] {
  const start = text.indexOf(`\n${heading}\n`);
  if (start < 0) {
    throw new Error(`the page has no heading ${heading}`);
  }
  const section = text.slice(start);
  const lines = section.slice(section.indexOf("\n|") + 1).split("\n");
  const end = lines.findIndex((line) => !line.startsWith("|"));
  return lines.slice(2, end).map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
