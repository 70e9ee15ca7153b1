import { useLayoutEffect, useRef } from "preact/hooks";
import { useLocation } from "wouter-preact";
import type { PageEntry } from "./pages.ts";

/**
 * Sets the document's title, "Volume data · Volumes · hostplane on host1", and moves the focus when the user goes to another page
 * or to an item of a list.
 * @param place the gateway
 * @param onChange called when the shown page or item changes
 */
export function usePlace(page: PageEntry | undefined, place: string, onChange: () => void): void {
  const [location] = useLocation();
  const shown = useRef(location);
  useLayoutEffect(() => {
    const content = document.getElementById("content");
    const setTitle = () => {
      // An item's heading appears only after it has been read.
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
  // Before the paint: later, the focus would be taken from a form that a key has opened meanwhile.
  useLayoutEffect(() => {
    if (shown.current !== location) {
      shown.current = location;
      onChange();
      scrollTo(0, 0);
      focusContent();
    }
  }, [location]);
}

/** Moves the focus to the content. A link to `#content` cannot do that, because the hash is the page's route. */
export function focusContent(): void {
  document.getElementById("content")?.focus({ preventScroll: true });
}
