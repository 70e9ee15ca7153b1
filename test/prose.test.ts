import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "tap";
import ts from "typescript";

const root = resolve(import.meta.dirname, "..");

/** Words that read as translated, and what to write. */
const rules: readonly (readonly [words: RegExp, instead: string])[] = [
  [/\b(tells?|told)\b/i, "report, return, log, publish"],
  [/\b(nobody|somebody|whoever)\b/i, "no caller, someone, the user"],
  [/\b(who asks|who calls|askers?)\b/i, "the caller, the requester"],
  [/\b(is|are|was|were|be|as|if|what|than|one) wanted\b/i, "desired, requested, the spec"],
  [/\bforese(e|en|es)\b/i, "plan, dry run"],
  [/\banew\b/i, "again"],
  [/\b(wherein|whereof|by whom|of whom|to whom)\b/i, "two sentences"],
  [/\b(taken (away|down)|taking down)\b/i, "removed, destroyed"],
  [/\bunder way\b/i, "running, in progress"],
  [/\bheld against\b/i, "compared with"],
  [/\bwhat (there is|is there)\b/i, "the current state, existing volumes"],
  [/\bwhat mends\b/i, "the fix"],
  [/\bnone of (this|the) (rpc|method)/i, "unsupported, unknown"],
  [/\bas whose\b/i, "as the caller"],
];

/** Contains these rules. */
const ownFile = "test/prose.test.ts";

interface Passage {
  readonly line: number;
  readonly text: string;
}

function filesBelow(directory: string, extension: RegExp): string[] {
  return readdirSync(join(root, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extension.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((file) => !file.includes("node_modules") && !/\/(samples|gen)\//.test(file));
}

/** Returns the paragraphs of a page, without code. */
function passagesOfPage(text: string): Passage[] {
  let isCode = false;
  return text.split("\n").flatMap((line, index) => {
    isCode = line.trimStart().startsWith("```") ? !isCode : isCode;
    return isCode ? [] : [{ line: index + 1, text: line.replaceAll(/`[^`]*`/g, "") }];
  });
}

/** Returns the comments and the texts of a source file. A text is one with a space: others are names. */
function passagesOfSource(text: string, isTsx: boolean): Passage[] {
  const source = ts.createSourceFile(
    "source",
    text,
    ts.ScriptTarget.Latest,
    true,
    isTsx ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  );
  const passages: Passage[] = [];
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
  for (const comment of commentsOf(source)) {
    passages.push({
      line: lineOf(comment.pos),
      text: text.slice(comment.pos, comment.end).replaceAll(/`[^`]*`|@param \w+/g, ""),
    });
  }
  const visit = (node: ts.Node): void => {
    const isText =
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddle(node) ||
      ts.isTemplateTail(node) ||
      ts.isJsxText(node);
    if (isText && /\S\s\S/.test(node.text)) {
      passages.push({ line: lineOf(node.getStart(source)), text: node.text.replaceAll(/`[^`]*`/g, "") });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return passages;
}

/** Returns each comment once. */
function commentsOf(source: ts.SourceFile): readonly ts.CommentRange[] {
  const text = source.text;
  const found = new Map<number, ts.CommentRange>();
  const visit = (node: ts.Node): void => {
    for (const range of [
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
    ]) {
      found.set(range.pos, range);
    }
    for (const child of node.getChildren(source)) {
      visit(child);
    }
  };
  visit(source);
  return [...found.values()];
}

function oddWordsIn(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  // Parsing takes longer than reading, and few files have one of the words even in their code.
  if (!rules.some(([words]) => words.test(text))) {
    return [];
  }
  const passages = file.endsWith(".md")
    ? passagesOfPage(text)
    : passagesOfSource(text, file.endsWith(".tsx"));
  return passages.flatMap(({ line, text: passage }) =>
    rules.flatMap(([words, instead]) => {
      const [found] = words.exec(passage) ?? [];
      return found === undefined ? [] : [`${file}:${line}: "${found}"; write: ${instead}`];
    }),
  );
}

test("docs, comments and texts use none of the words that read as translated", (t) => {
  const files = [
    "README.md",
    "CONTRIBUTING.md",
    ...filesBelow("docs", /\.md$/),
    ...["server", "adapters", "client", "dashboard", "test"].flatMap((directory) =>
      filesBelow(directory, /\.tsx?$/),
    ),
  ].filter((file) => file !== ownFile);
  t.ok(files.length > 2000, `${files.length} files`);
  t.strictSame(files.flatMap(oddWordsIn), []);
  t.end();
});
