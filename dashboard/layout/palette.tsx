import { signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { hosts } from "../live/hosts.ts";
import { inventory } from "../live/inventory.ts";
import { latestOperations } from "../live/latest-operations.ts";
import { Icon } from "../parts/icon.tsx";
import { operationStatus } from "../parts/operation/operation-state.ts";
import { Status } from "../parts/status.tsx";
import type { PageEntry } from "./pages.ts";
import { findEntries, findHosts, type PaletteEntry, type PaletteSources } from "./palette-entries.ts";
import { useFleetSearch } from "./use-fleet-search.ts";

/** What the palette finds; undefined while it is closed. */
const opened = signal<"everything" | "hosts" | undefined>(undefined);

/** Opens the palette. @param what `hosts` finds only hosts */
export function openPalette(what: "everything" | "hosts" = "everything"): void {
  opened.value = what;
}

/** Closes the palette and forgets its text. */
export function closePalette(): void {
  opened.value = undefined;
}

/** The command palette: what to run, where to go and recent operations, found by words. */
export function Palette({ pages }: { readonly pages: readonly PageEntry[] }) {
  return opened.value === undefined ? null : (
    <OpenPalette key={opened.value} pages={pages} what={opened.value} />
  );
}

function OpenPalette(props: { readonly pages: readonly PageEntry[]; readonly what: "everything" | "hosts" }) {
  const { pages, what } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const text = useSignal("");
  const at = useSignal(0);
  const [, goTo] = useLocation();
  const { resources: onOtherHosts, isSearching } = useFleetSearch(what === "hosts" ? "" : text.value).value;
  const sources: PaletteSources = {
    pages,
    hosts: hosts.value.hosts ?? [],
    onOtherHosts,
    resources: inventory.value.resources,
    operations: latestOperations.value,
  };
  const found = useMemo(
    () => (what === "hosts" ? findHosts(text.value, sources.hosts) : findEntries(text.value, sources)),
    [text.value, sources.hosts, sources.resources, sources.operations, onOtherHosts],
  );
  const label = what === "hosts" ? "Choose a host" : "Search or run a command";

  useModal(dialog);

  function run(entry: PaletteEntry | undefined): void {
    if (entry === undefined) {
      return;
    }
    closePalette();
    if (entry.address !== undefined) {
      location.assign(entry.address);
    } else if (entry.path === undefined) {
      entry.run?.();
    } else {
      goTo(`~${entry.path}`);
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    const last = found.length - 1;
    if (event.key === "ArrowDown") {
      at.value = at.value >= last ? 0 : at.value + 1;
    } else if (event.key === "ArrowUp") {
      at.value = at.value <= 0 ? last : at.value - 1;
    } else if (event.key === "Enter") {
      run(found[at.value]);
    } else {
      return;
    }
    event.preventDefault();
    document.getElementById(`palette-${at.value}`)?.scrollIntoView({ block: "nearest" });
  }

  return (
    <dialog ref={dialog} class="palette" aria-label={label} onClose={closePalette} closedby="any">
      <div class="entry">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label={label}
          aria-expanded="true"
          aria-controls="palette-found"
          aria-activedescendant={found.length > 0 ? `palette-${at.value}` : undefined}
          autocomplete="off"
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
            at.value = 0;
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <Found of={found} isSearching={isSearching} words={text.value} at={at.value} onPick={run} />
      <footer class="small">
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> select
        </span>
        <span>
          <kbd>↵</kbd> open
        </span>
      </footer>
    </dialog>
  );
}

/** Opens a dialog while it is shown, before the next key arrives, and returns the focus to where it was. */
function useModal(dialog: RefObject<HTMLDialogElement>): void {
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    return () => {
      element?.close();
      if (opener instanceof HTMLElement && opener.isConnected) {
        opener.focus();
      }
    };
  }, []);
}

/** What was found, in sections. */
function Found(props: {
  readonly of: readonly PaletteEntry[];
  /** Whether more may be found on other hosts. */
  readonly isSearching: boolean;
  readonly words: string;
  readonly at: number;
  readonly onPick: (entry: PaletteEntry) => void;
}) {
  const { of: found, isSearching, words, at, onPick } = props;
  return (
    <div class="found" role="listbox" id="palette-found" aria-label="Found" tabIndex={-1}>
      {found.length === 0 && (
        <p class="empty">{isSearching ? "Searching other hosts …" : "Nothing found."}</p>
      )}
      {found.map((entry, index) => (
        <div key={entry.id} role="none">
          {entry.section !== found[index - 1]?.section && (
            <div class="section" role="presentation">
              {entry.section}
            </div>
          )}
          <PaletteLine
            entry={entry}
            words={words}
            index={index}
            isAt={index === at}
            onPick={() => onPick(entry)}
          />
        </div>
      ))}
    </div>
  );
}

function PaletteLine(props: {
  readonly entry: PaletteEntry;
  readonly words: string;
  readonly index: number;
  readonly isAt: boolean;
  readonly onPick: () => void;
}) {
  const { entry, words, index, isAt, onPick } = props;
  const { icon, text, detail, status, operationState } = entry;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the input above handles the keys of all options
    <div id={`palette-${index}`} role="option" tabIndex={-1} aria-selected={isAt} onClick={onPick}>
      <Icon name={icon} />
      <span>
        <Marked text={text} words={words} /> <span class="quiet">{detail}</span>
      </span>
      {status !== undefined && status !== "unknown" && <Status kind={status} />}
      {operationState !== undefined && <Status kind={operationStatus(operationState)} />}
    </div>
  );
}

/** Marks the words that were searched for. */
function Marked({ text, words }: { readonly text: string; readonly words: string }) {
  const parts = words
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (parts.length === 0) {
    return <>{text}</>;
  }
  const pieces = text.split(new RegExp(`(${parts.join("|")})`, "i"));
  return (
    <>
      {pieces.map((piece, index) => {
        const key = `${index} ${piece}`;
        return index % 2 === 1 ? <mark key={key}>{piece}</mark> : <span key={key}>{piece}</span>;
      })}
    </>
  );
}
