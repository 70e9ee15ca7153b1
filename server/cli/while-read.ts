/**
 * Follows a stream until the output is closed: the reader in `hostplane events | head` has read enough, which is not a
 * failure.
 * @param follow its signal is aborted once the reader of stdout is gone. Errors after that are ignored; earlier ones are
 *   rethrown.
 */
export async function whileRead(follow: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const leaving = new AbortController();
  process.stdout.once("error", () => leaving.abort());
  try {
    await follow(leaving.signal);
  } catch (error) {
    if (!leaving.signal.aborted) {
      throw error;
    }
  }
}
