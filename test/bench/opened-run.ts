import type { BenchRun } from "./bench.ts";

/** Begins a run of what is opened one after the other; when that fails, what is open by then is closed. */
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
