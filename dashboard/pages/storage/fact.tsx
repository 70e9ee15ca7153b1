import type { ComponentChildren } from "preact";

/** A named value in a list of facts; undefined is shown as not known. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children ?? <span class="quiet">not known</span>}</dd>
    </>
  );
}
