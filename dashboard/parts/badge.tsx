import type { ComponentChildren } from "preact";

/** How something is: the colour repeats what the words say, and never says more. */
export type Tone = "ok" | "warn" | "bad" | "busy" | "off";

/** A state in a word. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
