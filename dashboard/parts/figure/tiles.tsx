import type { ComponentChildren } from "preact";

/** A key figure: what it is, its value, and a line that explains it. */
export interface Tile {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
}

/** Key figures side by side. */
export function Tiles({ of }: { readonly of: readonly Tile[] }) {
  return (
    <dl class="tiles">
      {of.map(({ label, value, note }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
          {note !== undefined && <dd>{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
