/** Makes a text safe to print as one line: replaces newlines and control characters, since it may come from a tool. */
export function printableLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ").replaceAll(/\p{Cc}/gu, "\ufffd");
}
