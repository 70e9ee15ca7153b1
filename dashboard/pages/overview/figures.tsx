import type { ComponentChildren } from "preact";

/** A count or an amount with what it is of. */
export interface Figure {
  readonly label: string;
  readonly value: ComponentChildren;
  /** Whether it tells of something that is wrong; the label says what. */
  readonly isBad?: boolean;
}

/** Figures that are to be seen at a glance. */
export function Figures({ of }: { readonly of: readonly Figure[] }) {
  return (
    <dl class="figures">
      {of.map(({ label, value, isBad }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd class={isBad ? "bad" : undefined}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
