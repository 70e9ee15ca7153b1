import type { ComponentChildren } from "preact";

/** Colour of a state. It only repeats what the text says. */
export type Tone = "ok" | "warn" | "bad" | "busy" | "off";

/** A state in one word. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
