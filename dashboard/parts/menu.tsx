import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon, type IconName } from "./icon.tsx";

/** A line of a menu. */
export interface MenuItem {
  readonly text: string;
  readonly icon?: IconName;
  /** The key that does the same, as shown: "R". */
  readonly keyText?: string;
  /** A figure beside it, such as a number of events. */
  readonly detail?: string;
  readonly isDestructive?: boolean;
  /** Whether a line divides it from the item before. */
  readonly isAfterLine?: boolean;
  readonly run: () => void;
}

/** A button that opens a menu. */
export function MenuButton(props: {
  /** Name of the button for a screen reader. */
  readonly label: string;
  readonly class?: string;
  readonly align?: "left" | "right";
  readonly items: () => readonly MenuItem[];
  readonly children: ComponentChildren;
}) {
  const { label, align = "right", items, children } = props;
  const isOpen = useSignal(false);
  const anchor = useRef<HTMLSpanElement>(null);
  return (
    <span class="anchor" ref={anchor}>
      <button
        type="button"
        class={props.class ?? "bare icon small"}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        onClick={(event) => {
          event.stopPropagation();
          isOpen.value = !isOpen.value;
        }}
      >
        {children}
      </button>
      {isOpen.value && (
        <Menu
          label={label}
          items={items()}
          align={align}
          isUp={isLow(anchor.current)}
          onClose={() => {
            isOpen.value = false;
            anchor.current?.querySelector("button")?.focus();
          }}
        />
      )}
    </span>
  );
}

function Menu(props: {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly align: "left" | "right";
  readonly isUp: boolean;
  readonly onClose: () => void;
}) {
  const { label, items, align, isUp, onClose } = props;
  const menu = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    menu.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const closeOutside = ({ target }: PointerEvent) => {
      if (target instanceof Node && menu.current?.parentElement?.contains(target) === false) {
        onClose();
      }
    };
    document.addEventListener("pointerdown", closeOutside);
    return () => document.removeEventListener("pointerdown", closeOutside);
  }, []);

  function onKeyDown(event: KeyboardEvent): void {
    const entries = [...(menu.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = entries.indexOf(document.activeElement as HTMLElement);
    const move = (to: number) => entries[(to + entries.length) % entries.length]?.focus();
    event.stopPropagation();
    if (event.key === "ArrowDown") {
      move(at + 1);
    } else if (event.key === "ArrowUp") {
      move(at - 1);
    } else if (event.key === "Home") {
      move(0);
    } else if (event.key === "End") {
      move(-1);
    } else if (event.key === "Escape" || event.key === "Tab") {
      onClose();
    } else {
      return;
    }
    event.preventDefault();
  }

  return (
    <div
      ref={menu}
      role="menu"
      tabIndex={-1}
      aria-label={label}
      class={`menu ${align} ${isUp ? "up" : ""}`}
      onKeyDown={onKeyDown}
      onClick={(event) => event.stopPropagation()}
    >
      {items.map(({ text, icon, keyText, detail, isDestructive, isAfterLine, run }) => (
        <div key={text} role="none">
          {isAfterLine && <div class="menu-line" role="none" />}
          <button
            type="button"
            role="menuitem"
            tabIndex={-1}
            class={isDestructive ? "menu-item destructive" : "menu-item"}
            onClick={() => {
              onClose();
              run();
            }}
          >
            {icon !== undefined && <Icon name={icon} />}
            {text}
            {detail !== undefined && <span class="quiet">{detail}</span>}
            {keyText !== undefined && <kbd>{keyText}</kbd>}
          </button>
        </div>
      ))}
    </div>
  );
}

/** Reports whether a menu below an element would leave the window. */
function isLow(element: HTMLElement | null): boolean {
  return element !== null && element.getBoundingClientRect().bottom > innerHeight * 0.65;
}
