import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

/**
 * A modal dialog, open while it is mounted. Back closes it, and so does Escape unless what it shows would be lost by accident.
 * The focus returns to where it was, or to the page if that element is gone.
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
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    // Fires for Back and Forward only: links in a dialog use `history.pushState`, which fires no such event.
    const onBack = () => close.current();
    addEventListener("popstate", onBack);
    return () => {
      removeEventListener("popstate", onBack);
      // Browsers restore the focus only when a dialog is closed, not when it is removed from the page.
      element?.close();
      const isThere = opener instanceof HTMLElement && opener.isConnected && opener !== document.body;
      const place = isThere ? opener : document.getElementById("content");
      place?.focus();
    };
  }, []);
  return (
    // Closing during the removal is not the user's action.
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
