import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

/**
 * A dialog over the page, open as long as it is there. Escape closes it, unless what it shows would be lost by a slip, and so
 * does Back; the focus goes back to where it was, or to the page when that is gone.
 */
export function ModalDialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly keepsOnEscape?: boolean;
  readonly children: ComponentChildren;
}) {
  const { title, onClose, keepsOnEscape = false, children } = props;
  const close = useRef(onClose);
  close.current = onClose;
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    // Only Back and Forward: what a dialog itself leads to goes by `history.pushState`, which has no such event.
    const onBack = () => close.current();
    addEventListener("popstate", onBack);
    return () => {
      removeEventListener("popstate", onBack);
      // Browsers give the focus back only when a dialog is closed, not when it is taken out of the page.
      element?.close();
      const isThere = opener instanceof HTMLElement && opener.isConnected && opener !== document.body;
      const place = isThere ? opener : document.getElementById("content");
      place?.focus();
    };
  }, []);
  return (
    // What comes of the closing when it is taken out is no wish of the user.
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={() => dialog.current !== null && onClose()}
      onKeyDown={(event) => {
        if (keepsOnEscape && event.key === "Escape") {
          event.preventDefault();
        }
      }}
    >
      <h2 id={id}>{title}</h2>
      <div class="stack">{children}</div>
    </dialog>
  );
}
