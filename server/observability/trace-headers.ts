import { readFile } from "node:fs/promises";

/**
 * Headers for the collector of traces, such as `authorization: Bearer …`: one `name: value` a line; empty lines and
 * those that begin with `#` mean nothing. Names come back in lower case.
 * @throws Error naming the line, and never what it holds
 */
export function parseTraceHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) {
      continue;
    }
    // The token of RFC 9110, section 5.6.2, and a value of visible characters, spaces and tabs (5.5).
    const match = /^([!#$%&'*+\-.^_`|~\w]+):[ \t]*([\t\u0020-\u007e]*?)[ \t]*$/.exec(line);
    if (match === null) {
      throw new Error(`line ${index + 1} is no header: expected \`name: value\``);
    }
    const [, name = "", value = ""] = match;
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** Reads a file of `parseTraceHeaders`. @throws Error naming the file, and never what it holds */
export async function readTraceHeaders(file: string): Promise<Record<string, string>> {
  try {
    return parseTraceHeaders(await readFile(file, "utf8"));
  } catch (error) {
    throw new Error(`tracing.headersFile ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
