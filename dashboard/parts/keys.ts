import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A key and what it does; the name of the key as `KeyboardEvent.key` has it, in lower case, or two of them: "g v". */
export interface KeyBinding {
  readonly key: string;
  /** For the list of keys; not listed without it. */
  readonly does?: string;
  readonly run: (event: KeyboardEvent) => void;
}

/** Time after `g` within which the second key must follow. */
const chordMs = 1200;
const storageKey = "hostplane.singleKeys";

/** Whether keys without Ctrl do something; a user whose assistive technology needs them can turn them off. */
export const singleKeys = signal(localStorage.getItem(storageKey) !== "off");

/** Layers of bindings, the newest last. Only the newest layer that has a key gets it. */
const layers = signal<readonly (() => readonly KeyBinding[])[]>([]);

/** Returns all keys that do something now, without those that are hidden by another. */
export function boundKeys(): readonly KeyBinding[] {
  const byKey = new Map<string, KeyBinding>();
  for (const layer of layers.value) {
    for (const binding of layer()) {
      byKey.set(binding.key, binding);
    }
  }
  return [...byKey.values()];
}

/** Turns the keys without Ctrl on or off; remembered in this browser. */
export function setSingleKeys(isOn: boolean): void {
  singleKeys.value = isOn;
  localStorage.setItem(storageKey, isOn ? "on" : "off");
}

/** Binds single keys while the component is shown. They do nothing while the user types or a dialog or menu is open. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  const latest = useRef(bindings);
  latest.current = bindings;
  // An effect after the paint would lose keys that are pressed as soon as the page is seen.
  useLayoutEffect(() => {
    const layer = () => latest.current;
    layers.value = [...layers.peek(), layer];
    return () => {
      layers.value = layers.peek().filter((one) => one !== layer);
    };
  }, []);
}

/** Listens to the page's keys until the returned function is called. */
export function listenToKeys(): () => void {
  let first: { readonly key: string; readonly atMs: number } | undefined;
  const onKeyDown = (event: KeyboardEvent) => {
    if (!singleKeys.value || event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) {
      first = undefined;
      return;
    }
    const key =
      event.shiftKey && event.key.startsWith("Arrow")
        ? `shift ${event.key.toLowerCase()}`
        : event.key.toLowerCase();
    const chord = first !== undefined && event.timeStamp - first.atMs < chordMs ? `${first.key} ${key}` : key;
    const all = boundKeys();
    const found = all.find((binding) => binding.key === chord);
    first = all.some((binding) => binding.key.startsWith(`${key} `))
      ? { key, atMs: event.timeStamp }
      : undefined;
    if (found !== undefined) {
      event.preventDefault();
      found.run(event);
    }
  };
  document.addEventListener("keydown", onKeyDown);
  return () => document.removeEventListener("keydown", onKeyDown);
}

/** Reports whether a key belongs to an input, a button or link, a dialog or a menu. */
function isTaken({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) {
    return false;
  }
  if (document.querySelector("dialog[open], [role=menu]") !== null) {
    return true;
  }
  const isText = target.matches("input:not([type=checkbox]), textarea, select, [contenteditable]");
  return isText || ((key === "Enter" || key === " ") && target.matches("button, a, summary, input"));
}
