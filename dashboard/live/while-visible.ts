/** How long a page may be hidden, e.g. for a glance at another tab, before it closes its streams. */
const patienceMs = 20_000;

/** The parts of `document` that are used here. */
export interface Visibility extends EventTarget {
  readonly visibilityState: string;
}

/**
 * Runs something while the page is visible, so that hidden pages cost neither the gateway nor the browser anything.
 * @param run starts it, and again each time that the page is shown after it was hidden for a while; the signal stops it
 * @returns a function that stops it
 */
export function whileVisible(
  run: (signal: AbortSignal) => void,
  { page = document, hiddenMs = patienceMs }: { readonly page?: Visibility; readonly hiddenMs?: number } = {},
): () => void {
  let current: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(timer);
    timer = undefined;
    current?.abort();
    current = undefined;
  };
  const update = () => {
    if (page.visibilityState !== "visible") {
      timer ??= setTimeout(end, hiddenMs);
      return;
    }
    clearTimeout(timer);
    timer = undefined;
    if (current === undefined) {
      current = new AbortController();
      run(current.signal);
    }
  };
  page.addEventListener("visibilitychange", update);
  update();
  return () => {
    page.removeEventListener("visibilitychange", update);
    end();
  };
}
