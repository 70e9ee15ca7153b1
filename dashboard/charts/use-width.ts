import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/** Returns the width of an element in pixels, and follows it. @param usualPx width before the element is laid out */
export function useWidth(element: RefObject<Element>, usualPx: number): number {
  const width = useSignal(usualPx);
  useLayoutEffect(() => {
    const shown = element.current;
    if (shown === null) {
      return undefined;
    }
    const update = () => {
      width.value = Math.round(shown.getBoundingClientRect().width) || usualPx;
    };
    update();
    const observer = new ResizeObserver(update);
    observer.observe(shown);
    return () => observer.disconnect();
  }, [element, usualPx, width]);
  return width.value;
}
