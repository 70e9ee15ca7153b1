/** The parts of a page that are used here; workers and Node have some or none of them. */
interface Page {
  readonly addEventListener?: EventTarget["addEventListener"];
  readonly removeEventListener?: EventTarget["removeEventListener"];
  readonly document?: EventTarget & { readonly visibilityState: string };
}

const page = globalThis as unknown as Page;

/**
 * Calls `onWake` when the network is back and when the page becomes visible again: browsers throttle the timers of hidden pages,
 * and timers do not run while a machine sleeps. Does nothing outside pages.
 * @param onWake `hadNoNetwork` is true when older connections cannot be alive any more
 * @returns a function that stops it
 */
export function watchWakes(onWake: (hadNoNetwork: boolean) => void): () => void {
  const { document } = page;
  const onOnline = () => onWake(true);
  const onVisibility = () => {
    if (document?.visibilityState === "visible") {
      onWake(false);
    }
  };
  page.addEventListener?.("online", onOnline);
  document?.addEventListener("visibilitychange", onVisibility);
  return () => {
    page.removeEventListener?.("online", onOnline);
    document?.removeEventListener("visibilitychange", onVisibility);
  };
}
