import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** The position in a list, newest first, that is read page by page. */
export interface Pages {
  /** Token of the current page; empty for the first. */
  readonly token: string;
  readonly isFirst: boolean;
  toNewest(): void;
  toOlder(nextToken: string): void;
}

/** @param key identifies the list; another key starts at the first page */
export function usePages(key: string): Pages {
  const place = useSignal({ key, token: "" });
  // A token is valid only for the list that returned it.
  const token = place.value.key === key ? place.value.token : "";
  useEffect(() => {
    place.value = { key, token: "" };
  }, [key, place]);
  return {
    token,
    isFirst: token === "",
    toNewest: () => {
      place.value = { key, token: "" };
    },
    toOlder: (nextToken) => {
      place.value = { key, token: nextToken };
    },
  };
}

/** Buttons to older pages, and back to the newest. */
export function Paging(props: {
  readonly of: Pages;
  /** Token of the next page; empty on the last page. */
  readonly nextToken: string;
  /** Name of the listed items, e.g. "operations". */
  readonly what: string;
}) {
  const { of: pages, nextToken, what } = props;
  if (pages.isFirst && nextToken === "") {
    return null;
  }
  return (
    <nav class="row actions" aria-label={`Pages of ${what}`}>
      <button type="button" disabled={pages.isFirst} onClick={pages.toNewest}>
        Newest
      </button>
      <button type="button" disabled={nextToken === ""} onClick={() => pages.toOlder(nextToken)}>
        Older
      </button>
    </nav>
  );
}
