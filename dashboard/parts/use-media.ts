import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** Reports whether a media query matches, and follows it. */
export function useMedia(query: string): boolean {
  const matches = useSignal(matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const update = () => {
      matches.value = list.matches;
    };
    list.addEventListener("change", update);
    return () => list.removeEventListener("change", update);
  }, [query, matches]);
  return matches.value;
}

/** Narrow screens show cards in place of tables; the same width as in the style sheets. */
export const phoneQuery = "(max-width: 767px)";
