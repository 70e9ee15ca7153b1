import { type Signal, useSignal } from "@preact/signals";
import { parseSizeGib } from "./size-gib.ts";

/** State of an input for a size. */
export interface SizeInput {
  readonly text: Signal<string>;
  /** Why the last text was invalid. */
  readonly error: string | undefined;
  /** Returns the size in GiB; undefined for an invalid text, which also sets `error`. */
  read(): bigint | undefined;
}

/** @param initialText text before the user types */
export function useSizeGib(initialText: string): SizeInput {
  const text = useSignal(initialText);
  const error = useSignal<string | undefined>(undefined);
  return {
    text,
    error: error.value,
    read() {
      error.value = undefined;
      try {
        return parseSizeGib(text.value);
      } catch (thrown) {
        error.value = thrown instanceof Error ? thrown.message : String(thrown);
        return undefined;
      }
    },
  };
}
