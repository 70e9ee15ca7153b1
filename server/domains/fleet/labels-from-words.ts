/**
 * Reads labels from words of a command line.
 * @param words each `NAME=VALUE`; a word without `=` is a label without a value
 */
export function labelsFromWords(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const end = word.indexOf("=");
      return end < 0 ? [word, ""] : [word.slice(0, end), word.slice(end + 1)];
    }),
  );
}
