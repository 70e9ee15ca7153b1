import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "wouter-preact";
import type { PageEntry } from "./pages.ts";

/**
 * Keeps the document's title that of what is shown, "Volume data · Volumes · hostplane on host1", and gives the focus to what the
 * user has gone to: another page, or one thing of a list.
 * @param place which gateway it is
 * @param onChange called when another place is shown
 */
export function usePlace(page: PageEntry | undefined, place: string, onChange: () => void): void {
  const [location] = useLocation();
  const shown = useRef(location);
  useEffect(() => {
    const content = document.getElementById("content");
    const setTitle = () => {
      // The heading of one thing is there once it has been read.
      const heading = content?.querySelector("h1")?.textContent;
      document.title = [...new Set([heading, page?.title, place])].filter((part) => part).join(" · ");
    };
    setTitle();
    const observer = new MutationObserver(setTitle);
    if (content !== null) {
      observer.observe(content, { childList: true, characterData: true, subtree: true });
    }
    return () => observer.disconnect();
  }, [page, place]);
  useEffect(() => {
    if (shown.current !== location) {
      shown.current = location;
      onChange();
      scrollTo(0, 0);
      focusContent();
    }
  }, [location]);
}

/** No link, since the address' hash is the page's route. */
export function focusContent(): void {
  document.getElementById("content")?.focus({ preventScroll: true });
}
