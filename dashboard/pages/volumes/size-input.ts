import { type Signal, useSignal } from "@preact/signals";
import { parseSizeGib } from "./size-gib.ts";

/** State of an input for a size. */
export interface SizeInput {
  readonly text: Signal<string>;
  /** The size in GiB; undefined while the text is empty or invalid. */
  readonly gib: bigint | undefined;
  /** Why the text is invalid. */
  readonly error: string | undefined;
}

/** @param initialText text before the user types */
export function useSizeGib(initialText: string): SizeInput {
  const text = useSignal(initialText);
  if (text.value.trim() === "") {
    return { text, gib: undefined, error: undefined };
  }
  try {
    return { text, gib: parseSizeGib(text.value), error: undefined };
  } catch (thrown) {
    return { text, gib: undefined, error: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}
