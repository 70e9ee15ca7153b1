import { signal } from "@preact/signals";
import { Link } from "wouter-preact";
import { Icon } from "../parts/icon.tsx";
import { Status } from "../parts/status.tsx";

/** The result of an action, in one sentence. */
export interface Toast {
  readonly text: string;
  readonly isError?: boolean;
  /** Where to see more: an absolute path, such as "/operations/1", or what to show. */
  readonly link?:
    | { readonly text: string; readonly path: string }
    | { readonly text: string; readonly run: () => void };
}

const shownMs = 6_000;
/** More would cover the page. */
const shownMost = 4;

const toasts = signal<readonly (Toast & { readonly id: number })[]>([]);
let lastId = 0;

/**
 * Shows the result of an action. It goes by itself after six seconds; an error stays until it is closed.
 * @returns a function that closes it
 */
export function showToast(toast: Toast): () => void {
  lastId += 1;
  const id = lastId;
  toasts.value = [...toasts.value, { ...toast, id }].slice(-shownMost);
  if (!toast.isError) {
    setTimeout(() => closeToast(id), shownMs);
  }
  return () => closeToast(id);
}

/** Removes all messages, also errors that are still open. */
export function forgetToasts(): void {
  toasts.value = [];
}

function closeToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** The results of recent actions, at the bottom left. */
export function Toasts() {
  return (
    <ul class="toasts" aria-live="polite" aria-label="Results">
      {toasts.value.map(({ id, text, isError, link }) => (
        <li key={id}>
          {isError && <Status kind="failed" text="failed" />}
          <span>{text}</span>
          {link !== undefined && <More link={link} onFollow={() => closeToast(id)} />}
          <button type="button" class="bare icon small" aria-label="Close" onClick={() => closeToast(id)}>
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

function More({
  link,
  onFollow,
}: {
  readonly link: NonNullable<Toast["link"]>;
  readonly onFollow: () => void;
}) {
  return "path" in link ? (
    <Link href={`~${link.path}`} onClick={onFollow}>
      {link.text}
    </Link>
  ) : (
    <button
      type="button"
      class="bare small"
      onClick={() => {
        onFollow();
        link.run();
      }}
    >
      {link.text}
    </button>
  );
}
