import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** Where in a list, newest first and read page by page, somebody is. */
export interface Pages {
  /** Of the page that is shown; empty for the first. */
  readonly token: string;
  readonly isFirst: boolean;
  toNewest(): void;
  toOlder(nextToken: string): void;
}

/** @param key what the list depends on; another key is another list, and begins with its first page */
export function usePages(key: string): Pages {
  const place = useSignal({ key, token: "" });
  // A token is of the list that it was given with.
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

/** Leads to older pages, and back to the newest. */
export function Paging(props: {
  readonly of: Pages;
  /** Of the page after the one that is shown; empty when it is the last. */
  readonly nextToken: string;
  /** What is listed, e.g. "operations". */
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
