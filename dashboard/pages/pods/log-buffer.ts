/** A line of a log as GetLogs tells it: its time as RFC 3339 writes it, and what was printed. */
export interface LogLine {
  /** Never the same twice in one log. */
  readonly key: number;
  readonly time: string;
  readonly text: string;
}

/** The newest lines of a log. What is never changed again is one object for ever, so that it is drawn once. */
export interface LogBuffer {
  /** Oldest first. */
  readonly blocks: readonly LogBlock[];
  /** How many lines it has. */
  readonly lineCount: number;
  /** How many lines there have ever been, those that were left out as well. */
  readonly everCount: number;
}

export interface LogBlock {
  /** Its first line's. */
  readonly key: number;
  readonly lines: readonly LogLine[];
}

/** As many as are kept of a log. */
export const maxLines = 5000;

const blockLines = 100;

export const emptyLog: LogBuffer = { blocks: [], lineCount: 0, everCount: 0 };

/** The log with more lines at its end, and without the oldest that are too many: whole blocks of them at once. */
export function appendLines(log: LogBuffer, told: readonly string[]): LogBuffer {
  const lines = told.map((line, index) => parseLogLine(line, log.everCount + index));
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
  let lineCount = log.lineCount + told.length;
  while (lineCount > maxLines) {
    lineCount -= blocks.shift()?.lines.length ?? 0;
  }
  return { blocks, lineCount, everCount: log.everCount + told.length };
}

function parseLogLine(line: string, key: number): LogLine {
  const end = line.indexOf(" ");
  return end < 0
    ? { key, time: line, text: "" }
    : { key, time: line.slice(0, end), text: withoutStyles(line.slice(end + 1)) };
}

const escapeCharacter = String.fromCharCode(0x1b);

/** ECMA-48, 5.4: control sequences of terminals, of which programs use those that set colours. */
const controlSequence = new RegExp(`${escapeCharacter}\\[[0-?]*[ -/]*[@-~]`, "g");

function withoutStyles(text: string): string {
  return text.replaceAll(controlSequence, "");
}
