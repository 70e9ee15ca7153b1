import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { ErrorNote } from "../error-note.tsx";
import { ModalDialog } from "./modal-dialog.tsx";

/** A form that stays open until its submission succeeds, and shows the error if it fails. */
export function FormDialog(props: {
  readonly title: string;
  /** Label of the submit button. */
  readonly label: string;
  readonly onSubmit: () => Promise<void>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const { title, label, onSubmit, onClose, children } = props;
  const error = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    isBusy.value = true;
    error.value = undefined;
    try {
      await onSubmit();
      onClose();
    } catch (thrown) {
      error.value = thrown;
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <ModalDialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {children}
        {error.value !== undefined && <ErrorNote error={error.value} />}
        <div class="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={isBusy.value}>
            {label}
          </button>
        </div>
      </form>
    </ModalDialog>
  );
}
