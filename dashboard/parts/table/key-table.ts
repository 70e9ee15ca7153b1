import { type ReadonlySignal, signal, useComputed } from "@preact/signals";
import { useId, useLayoutEffect } from "preact/hooks";

/** The tables of the page, in its order. */
const tables = signal<readonly string[]>([]);
/** The table that was used last. */
const used = signal<string | undefined>(undefined);

/** Whether a table gets the keys of the page: only one of several does, the one that was used last, at first the first. */
export function useKeyTable(): { readonly hasKeys: ReadonlySignal<boolean>; readonly use: () => void } {
  const id = useId();
  useLayoutEffect(() => {
    tables.value = [...tables.peek(), id];
    return () => {
      tables.value = tables.peek().filter((one) => one !== id);
    };
  }, [id]);
  return {
    hasKeys: useComputed(() => id === keyTable(tables.value, used.value)),
    use: () => {
      used.value = id;
    },
  };
}

/** Returns the table that gets the keys. */
export function keyTable(ids: readonly string[], lastUsed: string | undefined): string | undefined {
  return lastUsed !== undefined && ids.includes(lastUsed) ? lastUsed : ids[0];
}
