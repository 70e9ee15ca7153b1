import type { Signal } from "@preact/signals";
import { useSizeInput } from "../../parts/form/size-input.ts";
import { sizeText } from "../../parts/text/size-text.ts";
import { parseSizeGib } from "./size-gib.ts";

/** State of an input for the size of a volume. */
export interface SizeGibInput {
  readonly text: Signal<string>;
  /** The size in GiB; undefined while the text is empty or invalid. */
  readonly gib: bigint | undefined;
  /** Why the text is invalid. */
  readonly error: string | undefined;
}

/** State of an input for the new size of something that has a size. */
export interface NewSizeInput extends Pick<SizeGibInput, "text" | "error"> {
  /** The new size; undefined while the text is empty, invalid or the present size. */
  readonly newBytes: bigint | undefined;
}

/** @param sizeBytes the present size */
export function useNewSize(sizeBytes: number): NewSizeInput {
  const { text, gib, error } = useSizeGib(sizeText(sizeBytes));
  const bytes = gib === undefined ? undefined : gib << 30n;
  return { text, error, newBytes: Number(bytes) === sizeBytes ? undefined : bytes };
}

/** @param initialText text before the user types */
export function useSizeGib(initialText: string): SizeGibInput {
  const { text, size, error } = useSizeInput(initialText, parseSizeGib);
  return { text, gib: size, error };
}
