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

/**
 * Returns the lines of a log that have all words, in any case; without words the log itself. Blocks stay the same objects
 * where all their lines match.
 */
export function matchingLines(log: LogBuffer, words: string): LogBuffer {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) {
    return log;
  }
  const blocks = log.blocks.flatMap((block) => {
    const lines = block.lines.filter(({ text }) => wanted.every((word) => text.toLowerCase().includes(word)));
    return lines.length === 0 ? [] : [lines.length === block.lines.length ? block : { ...block, lines }];
  });
  return {
    ...log,
    blocks,
    lineCount: blocks.reduce((count, { lines }) => count + lines.length, 0),
  };
}

/** Returns a log as a text with a line for each of its lines, with its time. */
export function logText({ blocks }: LogBuffer): string {
  return blocks
    .flatMap(({ lines }) => lines)
    .map(({ time, text }) => `${time} ${text}\n`)
    .join("");
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
