const maxLineBytes = 16 * 1024 * 1024;

/**
 * Creates a function that splits chunks into lines, without their line endings; an unterminated last line is dropped,
 * since it was cut off.
 * @throws RangeError for a line of more than 16 MiB
 */
export function createLineSplitter(): (chunk: Uint8Array) => readonly string[] {
  let rest: Uint8Array[] = [];
  let restBytes = 0;
  return (chunk) => {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      lines.push(Buffer.concat([...rest, chunk.subarray(from, end)]).toString("utf8"));
      rest = [];
      restBytes = 0;
      from = end + 1;
    }
    if (from < chunk.length) {
      rest.push(chunk.subarray(from));
      restBytes += chunk.length - from;
    }
    if (restBytes > maxLineBytes) {
      throw new RangeError(`a line is longer than ${maxLineBytes} bytes`);
    }
    return lines;
  };
}
