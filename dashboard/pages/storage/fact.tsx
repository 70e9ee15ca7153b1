import type { ComponentChildren } from "preact";

/** A figure by its name in a list of facts; one that is undefined is told as not known. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children ?? <span class="quiet">not known</span>}</dd>
    </>
  );
}
