import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/** Rows that are drawn, and the height in pixels of those that are not. */
export interface VirtualRows {
  readonly start: number;
  /** After the last. */
  readonly end: number;
  readonly beforePx: number;
  readonly afterPx: number;
}

/** Rows drawn beyond the visible ones on each side, so that a scroll shows no gap before the next frame. */
const spareRows = 8;
/** Drawn in steps, so that most scroll events change nothing. */
const stepRows = 8;

/** Returns the rows to draw. All arguments in pixels except the counts. @param spare rows beyond the visible ones on each side */
export function virtualRows(
  count: number,
  rowPx: number,
  scrolledPx: number,
  viewPx: number,
  spare = spareRows,
): VirtualRows {
  const firstVisible = Math.floor(Math.max(0, scrolledPx) / rowPx);
  const lastVisible = Math.ceil((Math.max(0, scrolledPx) + viewPx) / rowPx);
  const start = Math.max(0, Math.floor((firstVisible - spare) / stepRows) * stepRows);
  const end = Math.min(count, Math.ceil((lastVisible + spare) / stepRows) * stepRows);
  const from = Math.min(start, end);
  return { start: from, end, beforePx: from * rowPx, afterPx: (count - end) * rowPx };
}

/**
 * The rows of a list to draw, as its scrolling ancestor is scrolled.
 * @param list an element around the rows, whose top is the first row's
 * @param rowPx height of every row
 */
export function useVirtualRows(list: RefObject<HTMLElement>, count: number, rowPx: number): VirtualRows {
  const range = useSignal(virtualRows(count, rowPx, 0, 900));
  useLayoutEffect(() => {
    const scroller = scrollerOf(list.current);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = (hasVisible: boolean) => {
      clearTimeout(timer);
      const top = list.current?.getBoundingClientRect().top ?? 0;
      const scrolled = (scroller?.getBoundingClientRect().top ?? 0) - top;
      const view = scroller?.clientHeight ?? innerHeight;
      const next = virtualRows(count, rowPx, scrolled, view);
      const now = range.peek();
      if (!hasVisible && (next.start >= now.end || next.end <= now.start)) {
        // All rows are new: drawing the spare ones too would be one long task.
        range.value = virtualRows(count, rowPx, scrolled, view, 0);
        timer = setTimeout(draw, 0, true);
      } else if (next.start !== now.start || next.end !== now.end || next.afterPx !== now.afterPx) {
        range.value = next;
      }
    };
    const update = () => draw(false);
    update();
    const target = scroller ?? document;
    target.addEventListener("scroll", update, { passive: true });
    addEventListener("resize", update);
    return () => {
      clearTimeout(timer);
      target.removeEventListener("scroll", update);
      removeEventListener("resize", update);
    };
  }, [list, count, rowPx, range]);
  const { start, end } = range.value;
  // The count may have become smaller since the range was computed.
  return end <= count ? range.value : virtualRows(count, rowPx, start * rowPx, (end - start) * rowPx);
}

/** Scrolls so that a row is in view. */
export function scrollToRow(list: HTMLElement | null, index: number, rowPx: number, headPx: number): void {
  const scroller = scrollerOf(list);
  if (list === null || scroller === null) {
    return;
  }
  const view = scroller.getBoundingClientRect();
  const top = list.getBoundingClientRect().top + index * rowPx;
  if (top < view.top + headPx) {
    scroller.scrollBy(0, top - view.top - headPx);
  } else if (top + rowPx > view.bottom) {
    scroller.scrollBy(0, top + rowPx - view.bottom);
  }
}

function scrollerOf(element: HTMLElement | null): HTMLElement | null {
  let at = element?.parentElement ?? null;
  while (at !== null && !/auto|scroll/.test(getComputedStyle(at).overflowY)) {
    at = at.parentElement;
  }
  return at;
}
