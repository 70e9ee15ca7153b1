/** A line of a log from GetLogs: its time in RFC 3339, and the printed text. */
export interface LogLine {
  /** Unique in its log. */
  readonly key: number;
  readonly time: string;
  readonly text: string;
}

/** The newest lines of a log. A full block never changes and stays the same object, so that it is rendered once. */
export interface LogBuffer {
  /** Oldest first. */
  readonly blocks: readonly LogBlock[];
  /** Number of lines in `blocks`. */
  readonly lineCount: number;
  /** Number of lines ever received, including dropped ones. */
  readonly everCount: number;
}

export interface LogBlock {
  /** Key of its first line. */
  readonly key: number;
  readonly lines: readonly LogLine[];
}

/** Maximum number of lines kept. */
export const maxLines = 5000;

const blockLines = 100;

export const emptyLog: LogBuffer = { blocks: [], lineCount: 0, everCount: 0 };

/** Returns the log with lines added at the end. If there are too many, the oldest are dropped in whole blocks. */
export function appendLines(log: LogBuffer, added: readonly string[]): LogBuffer {
  const lines = added.map((line, index) => parseLogLine(line, log.everCount + index));
  const blocks = [...log.blocks];
  const last = blocks.at(-1);
  if (last !== undefined && last.lines.length < blockLines) {
    blocks.pop();
    blocks.push({ ...last, lines: [...last.lines, ...lines.splice(0, blockLines - last.lines.length)] });
  }
  while (lines.length > 0) {
    const block = lines.splice(0, blockLines);
    blocks.push({ key: block[0]?.key ?? 0, lines: block });
  }
  let lineCount = log.lineCount + added.length;
  while (lineCount > maxLines) {
    lineCount -= blocks.shift()?.lines.length ?? 0;
  }
  return { blocks, lineCount, everCount: log.everCount + added.length };
}

function parseLogLine(line: string, key: number): LogLine {
  const end = line.indexOf(" ");
  return end < 0
    ? { key, time: line, text: "" }
    : { key, time: line.slice(0, end), text: withoutStyles(line.slice(end + 1)) };
}

const escapeCharacter = String.fromCharCode(0x1b);

/** ECMA-48, 5.4: control sequences of terminals; programs mostly use those that set colours. */
const controlSequence = new RegExp(`${escapeCharacter}\\[[0-?]*[ -/]*[@-~]`, "g");

function withoutStyles(text: string): string {
  return text.replaceAll(controlSequence, "");
}
