import { button } from "./element.ts";

const confirmationMs = 2000;

/** Adds a button that copies the example. Browsers have a clipboard only on pages loaded over TLS or from localhost. */
export function addCopyButton(example: HTMLElement): void {
  if (navigator.clipboard === undefined) {
    return;
  }
  const text = example.textContent;
  const copy = button("Copy", copyText, "copy");

  async function copyText(): Promise<void> {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
    setTimeout(() => {
      copy.textContent = "Copy";
    }, confirmationMs);
  }

  example.append(copy);
}
