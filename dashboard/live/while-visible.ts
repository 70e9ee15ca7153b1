/** How long a page may be hidden, as by a glance at another tab, before it lets go of its streams. */
const patienceMs = 20_000;

/** What this needs of `document`. */
export interface Visibility extends EventTarget {
  readonly visibilityState: string;
}

/**
 * Runs something as long as somebody may see the page. Browsers open six connections to a host over HTTP/1.1, for all tabs
 * together: streams of tabs that nobody looks at would leave none for the one that is looked at.
 * @param run begins it, again each time that the page is shown after it was hidden for a while; to be stopped by the signal
 * @returns ends it
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
  const look = () => {
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
  page.addEventListener("visibilitychange", look);
  look();
  return () => {
    page.removeEventListener("visibilitychange", look);
    end();
  };
}
