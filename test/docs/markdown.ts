import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

/** Every page of the project, as paths from its root. */
export function pages(): string[] {
  const skipped = /(^|\/)(node_modules|dist|data|coverage|\.tap)(\/|$)/;
  return globSync("**/*.md", { cwd: root, exclude: (name) => skipped.test(name) }).toSorted();
}

export function readPage(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

/** A fenced block of a page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** Line of the page the block begins at. */
  readonly line: number;
  /** The comment in the line above: `run`, `run: needs TOOL` or `prints`; empty without one. */
  readonly mark: string;
}

/** The fenced blocks of a page in their order. */
export function blocksOf(text: string): Block[] {
  const fences = text.matchAll(/^(?:<!-- (run(?:: needs \w+)?|prints) -->\n)?```(\w*)\n([\s\S]*?)^```$/gm);
  return [...fences].map(({ 1: mark = "", 2: language = "", 3: body = "", index }) => ({
    language,
    text: body,
    line: text.slice(0, index).split("\n").length,
    mark,
  }));
}

/** The names of a page's headings as links to them are written. */
export function anchorsOf(text: string): Set<string> {
  const outside = text.replaceAll(/^```[\s\S]*?^```$/gm, "");
  const headings = [...outside.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(/\s/g, "-"),
    ),
  );
}

/** Rows of the first table below the heading, as cells; the head and its rule are left out. */
export function tableBelow(text: string, heading: string): string[][] {
  const section = text.slice(text.indexOf(`\n${heading}\n`));
  const lines = section.slice(section.indexOf("\n|") + 1).split("\n");
  const end = lines.findIndex((line) => !line.startsWith("|"));
  return lines.slice(2, end).map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
