import { readFile } from "node:fs/promises";
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLMap,
} from "yaml";
import { type Mistake, withoutPassword } from "../../config/mistake.ts";

/** The content of a file, and the position of each key in it. */
export interface ConfigFile {
  /** The whole file as plain values; an empty object if it cannot be read or parsed. */
  readonly value: unknown;
  /** Returns `file:line:column` of the key, or of its nearest parent that the file has. */
  positionOf(path: readonly PropertyKey[]): string;
  /** Errors in the YAML itself. */
  readonly mistakes: readonly Mistake[];
  /** False if nothing more can be checked until `mistakes` are fixed. */
  readonly understood: boolean;
}

/** Reads the YAML file at `path`. Never throws: an unreadable file is reported as a mistake. */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const why = error instanceof Error && "code" in error ? error.code : undefined;
    const messages = {
      ENOENT: "there is no such file",
      EACCES: "no permission to read it",
      EISDIR: "it is a directory",
    };
    const message = `cannot be read: ${messages[String(why) as keyof typeof messages] ?? String(why)}`;
    return unusable(path, [{ where: path, key: "", message }]);
  }
  return parseConfigFile(path, text);
}

/** Replacements for messages of the library that are written for programmers. */
const ownWords: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "duplicate key, already set above",
  MULTIPLE_DOCS: "a second document starts here, expected one",
};

/** Parses `text` as YAML 1.2. `path` is only used in positions. */
export function parseConfigFile(path: string, text: string): ConfigFile {
  const lines = new LineCounter();
  const positionAt = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
  const mistakes = [...document.errors, ...document.warnings].map((fault) => ({
    where: positionAt(fault.pos[0]),
    key: "",
    message: ownWords[fault.code] ?? withoutPassword(fault.message),
  }));
  // After a syntax error the rest is guesswork; after a duplicate key it is not.
  if (document.errors.some(({ code }) => code !== "DUPLICATE_KEY")) {
    return unusable(path, mistakes);
  }
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document)) {
        return;
      }
      mistakes.push({
        where: positionAt(alias.range?.[0] ?? 0),
        key: "",
        message: `expected an anchor &${withoutPassword(alias.source)} above`,
      });
    },
  });
  let value: unknown;
  try {
    value = document.toJS() ?? {};
  } catch (error) {
    if (mistakes.length > 0) {
      return unusable(path, mistakes);
    }
    // Aliases expand beyond the library's limit.
    const message = withoutPassword(error instanceof Error ? error.message : String(error));
    return unusable(path, [{ where: path, key: "", message }]);
  }
  const positionOf = (keys: readonly PropertyKey[]) => positionAt(offsetOf(document, keys));
  return { value, positionOf, mistakes, understood: true };
}

function unusable(path: string, mistakes: readonly Mistake[]): ConfigFile {
  return { value: {}, positionOf: () => path, mistakes, understood: false };
}

function offsetOf(document: Document.Parsed, keys: readonly PropertyKey[]): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? 0;
  for (const key of keys) {
    // Follow an alias to its anchor, where the text to fix is.
    if (isAlias(node)) {
      node = node.resolve(document);
    }
    if (isSeq(node)) {
      node = node.items[Number(key)];
      offset = startOf(node) ?? offset;
    } else if (isMap(node)) {
      const pair = pairOf(node, String(key));
      node = pair?.value;
      offset = startOf(pair?.key) ?? offset;
    } else {
      break;
    }
  }
  return offset;
}

function pairOf(map: YAMLMap, key: string): YAMLMap["items"][number] | undefined {
  return map.items.find((pair) => String(isScalar(pair.key) ? pair.key.value : pair.key) === key);
}

function startOf(node: unknown): number | undefined {
  return (node as Node | undefined)?.range?.[0];
}
