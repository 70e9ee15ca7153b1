import type { ComponentChildren } from "preact";

/** A count or an amount with its label. */
export interface Figure {
  readonly label: string;
  readonly value: ComponentChildren;
  /** Whether it indicates a problem, which the label names. */
  readonly isBad?: boolean;
}

/** A row of figures. */
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
