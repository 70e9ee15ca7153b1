import { type Signal, useSignal } from "@preact/signals";

/** State of an input for a size. */
export interface SizeInput {
  readonly text: Signal<string>;
  /** The size in the parser's unit; undefined while the text is empty or invalid. */
  readonly size: bigint | undefined;
  /** Why the text is invalid. */
  readonly error: string | undefined;
}

/**
 * @param initialText text before the user types
 * @param parse throws an error whose message says what is expected
 */
export function useSizeInput(initialText: string, parse: (text: string) => bigint): SizeInput {
  const text = useSignal(initialText);
  if (text.value.trim() === "") {
    return { text, size: undefined, error: undefined };
  }
  try {
    return { text, size: parse(text.value), error: undefined };
  } catch (thrown) {
    return { text, size: undefined, error: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}
