import type { Signal } from "@preact/signals";
import { useSizeInput } from "../../parts/form/size-input.ts";
import { parseSizeGib } from "./size-gib.ts";

/** State of an input for the size of a volume. */
export interface SizeGibInput {
  readonly text: Signal<string>;
  /** The size in GiB; undefined while the text is empty or invalid. */
  readonly gib: bigint | undefined;
  /** Why the text is invalid. */
  readonly error: string | undefined;
}

/** @param initialText text before the user types */
export function useSizeGib(initialText: string): SizeGibInput {
  const { text, size, error } = useSizeInput(initialText, parseSizeGib);
  return { text, gib: size, error };
}
