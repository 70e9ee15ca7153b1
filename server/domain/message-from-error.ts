/**
 * Formats an error as one line without its stack: its message (or its name if that is empty) and its causes. For the CLI
 * only; a cause is never sent to a client.
 */
export function messageFromError(error: unknown): string {
  if (!(error instanceof Error)) {
    return onOneLine(String(error));
  }
  const message = onOneLine(error.message || error.name);
  const cause = error.cause === undefined ? "" : messageFromError(error.cause);
  return cause === "" || message.includes(cause) ? message : `${message}: ${cause}`;
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ");
}
