/**
 * Makes a text safe to print as one line: replaces newlines, control characters, and those that reorder the text around them, since
 * it may come from a tool or from the author of a plan.
 */
export function printableLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ").replaceAll(/\p{Cc}|\p{Bidi_Control}/gu, "\ufffd");
}
