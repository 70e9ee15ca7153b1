import { type Signal, useSignal } from "@preact/signals";
import { parseSizeGib } from "./size-gib.ts";

/** A size that is typed. */
export interface SizeInput {
  readonly text: Signal<string>;
  /** Why it could not be read the last time. */
  readonly error: string | undefined;
  /** The size in GiB; undefined for what cannot be read, which is then told as `error`. */
  read(): bigint | undefined;
}

/** @param initialText what is there before anything is typed */
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
