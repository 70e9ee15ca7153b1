import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

/**
 * A dialog over the page, open as long as it is there. Escape closes it, as do buttons of the class "close" in it by
 * `<form method="dialog">`; the focus goes back to where it was.
 */
export function ModalDialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const { title, onClose, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      // Browsers give the focus back only when a dialog is closed, not when it is taken out of the page.
      const isThere = opener instanceof HTMLElement && opener.isConnected && opener !== document.body;
      const place = isThere ? opener : document.getElementById("content");
      place?.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      <div class="stack">{children}</div>
    </dialog>
  );
}
