import type { BenchRun } from "../bench.ts";

/** Starts a run whose resources are opened one after the other. If that fails, the open ones are closed. */
export async function openedRun(
  begin: (opened: AsyncDisposableStack) => Promise<BenchRun>,
): Promise<BenchRun> {
  const opened = new AsyncDisposableStack();
  try {
    return await begin(opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}
