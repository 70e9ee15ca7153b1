/**
 * Makes text from an external source safe to log, store and show on a terminal: one line, with each run of blanks and
 * control characters reduced to one blank, and without the part of a URL before `@`, which may be a password.
 * @param maxLength in characters; longer text is cut and ends in `…`
 */
export function quotedLine(words: string, maxLength = 300): string {
  const line = words
    .replace(/\/\/[^/\s]*@/g, "//…@")
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim();
  const shortened = line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
  // Lone surrogates, which UTF-8 cannot encode.
  return shortened.replace(/\p{Cs}/gu, "");
}
