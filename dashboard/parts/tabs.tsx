import type { ComponentChildren } from "preact";
import { useAddressParameter } from "./address/use-address-parameter.ts";
import { useKeys } from "./keys.ts";

/** A tab: its name, and a count beside it. */
export interface Tab {
  /** In the address; empty for the first. */
  readonly id: string;
  readonly title: string;
  readonly count?: number | undefined;
}

/** Tabs. The address has the chosen one. */
export function Tabs<T extends Tab>(props: {
  /** What the tabs are about, for a screen reader. */
  readonly label: string;
  /** At least one. */
  readonly of: readonly T[];
  /** Renders the chosen one. */
  readonly children: (tab: T) => ComponentChildren;
}) {
  const { label, of: tabs, children } = props;
  const chosen = useAddressParameter("tab");
  const index = Math.max(
    0,
    tabs.findIndex(({ id }) => id === chosen.value),
  );
  const current = tabs[index];
  const step = (by: number) => {
    chosen.value = tabs[(index + by + tabs.length) % tabs.length]?.id ?? "";
  };
  useKeys([
    { key: "[", does: "previous tab", run: () => step(-1) },
    { key: "]", does: "next tab", run: () => step(1) },
  ]);
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label}>
        {tabs.map(({ id, title, count }, at) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`tab-${id}`}
            aria-selected={at === index}
            aria-controls="tab-body"
            onClick={() => {
              chosen.value = id;
            }}
          >
            {title}
            {count !== undefined && <span class="quiet">{count.toLocaleString("en")}</span>}
          </button>
        ))}
      </div>
      <div id="tab-body" role="tabpanel" class="stack" aria-labelledby={`tab-${current?.id}`}>
        {current !== undefined && children(current)}
      </div>
    </>
  );
}
