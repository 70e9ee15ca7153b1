/** What this needs of a page; other places (workers, Node) have less or none of it. */
interface Page {
  readonly addEventListener?: EventTarget["addEventListener"];
  readonly removeEventListener?: EventTarget["removeEventListener"];
  readonly document?: EventTarget & { readonly visibilityState: string };
}

const page = globalThis as unknown as Page;

/**
 * Calls `onWake` when the machine has a network again, and when somebody looks at the page again: timers of a page that
 * nobody sees are held back by browsers, and those of a machine that sleeps do not run. Does nothing outside pages.
 * @param onWake `hadNoNetwork` when older connections cannot be alive any more
 * @returns ends it
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
