import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../parts/icon.tsx";

/** What the side panel shows. */
export interface PanelContent {
  readonly title: string;
  /** Renders what is below the title, with its own footer. */
  readonly Body: ComponentType;
  /** What had the focus before, and gets it back. */
  readonly opener: Element | null;
}

/** What the side panel shows; nothing if undefined. */
export const panel = signal<PanelContent | undefined>(undefined);

/** Opens the panel in place of what it showed. */
export function openPanel(title: string, Body: ComponentType): void {
  panel.value = { title, Body, opener: document.activeElement };
}

/** Closes the side panel; the focus returns to what opened it. */
export function closePanel(): void {
  panel.value = undefined;
}

/** Plans and forms, beside the list that they belong to; the list stays usable. */
export function SidePanel({ content }: { readonly content: PanelContent }) {
  const { title, Body, opener } = content;
  const element = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    // A form inside focuses its first field, and is mounted first.
    if (element.current?.contains(document.activeElement) === false) {
      element.current.focus();
    }
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) {
        opener.focus({ preventScroll: true });
      }
    };
  }, [content]);
  return (
    <aside
      ref={element}
      class="side-panel"
      aria-label={title}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          closePanel();
        }
      }}
    >
      <header>
        <h2>{title}</h2>
        <button type="button" class="bare icon" aria-label="Close" onClick={closePanel}>
          <Icon name="close" />
        </button>
      </header>
      <Body />
    </aside>
  );
}
