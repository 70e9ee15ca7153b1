import { useSignal } from "@preact/signals";

/** Copies a text to the clipboard, and confirms it. */
export function CopyButton({ text, label = "Copy" }: { readonly text: string; readonly label?: string }) {
  const isCopied = useSignal(false);
  return (
    <button
      type="button"
      class="small"
      onClick={async () => {
        isCopied.value = await copy(text);
      }}
    >
      <span aria-live="polite">{isCopied.value ? "Copied" : label}</span>
    </button>
  );
}

/** @returns whether it was copied */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Browsers have `navigator.clipboard` only on pages loaded over TLS or from localhost; elsewhere this is the only way. */
function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  const place = document.querySelector("dialog[open]") ?? document.body;
  place.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  return isCopied;
}
