import { readFile } from "node:fs/promises";

/**
 * Parses headers for the trace collector, such as `authorization: Bearer …`: one `name: value` per line. Empty lines and lines
 * that begin with `#` are ignored. Names are returned in lower case.
 * @throws Error that names the line, but never its content
 */
export function parseTraceHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) {
      continue;
    }
    // A token of RFC 9110, section 5.6.2, and a value of visible characters, spaces and tabs (5.5).
    const match = /^([!#$%&'*+\-.^_`|~\w]+):[ \t]*([\t\u0020-\u007e]*?)[ \t]*$/.exec(line);
    if (match === null) {
      throw new Error(`line ${index + 1} is not a header: expected \`name: value\``);
    }
    const [, name = "", value = ""] = match;
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** Reads a file with the format of `parseTraceHeaders`. @throws Error that names the file, but never its content */
export async function readTraceHeaders(file: string): Promise<Record<string, string>> {
  try {
    return parseTraceHeaders(await readFile(file, "utf8"));
  } catch (error) {
    throw new Error(`tracing.headersFile ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
