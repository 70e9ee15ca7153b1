/**
 * What may be told, stored and shown on a terminal of words that somebody else has written: one line, of which each run of blanks and
 * control characters is one blank, without what stands before the `@` of a URL, which may be a password.
 * @param maxLength in characters; what is longer ends in `…`
 */
export function quotedLine(words: string, maxLength = 300): string {
  const line = words
    .replace(/\/\/[^/\s]*@/g, "//…@")
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim();
  const told = line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
  // Halves of characters, which no UTF-8 has.
  return told.replace(/\p{Cs}/gu, "");
}
