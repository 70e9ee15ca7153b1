/**
 * Follows a stream for as long as what is printed has a reader: `hostplane events | head` has read enough, which is no
 * failure.
 * @param follow its signal is aborted once the reader of stdout has gone; what it throws from then on is dropped, what it
 * throws before is thrown on
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
