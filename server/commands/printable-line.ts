/** A text in one line, and without what a terminal would obey: the words may be those of a tool. */
export function printableLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ").replaceAll(/\p{Cc}/gu, "\ufffd");
}
