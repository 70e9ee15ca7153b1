import { CopyButton } from "../../parts/copy-button.tsx";
import { ModalDialog } from "../../parts/form/modal-dialog.tsx";

/** Shows a token that has just been created. It cannot be shown again. */
export function NewToken({ token, onClose }: { readonly token: string; readonly onClose: () => void }) {
  return (
    <ModalDialog title="The new API token" onClose={onClose} keepsOnEscape>
      <p>
        Save it now: it is not stored and cannot be shown again. Programs send it in the header{" "}
        <code>authorization: Bearer …</code>.
      </p>
      <pre class="json">{token}</pre>
      <div class="row end">
        <CopyButton text={token} label="Copy token" />
        <button type="button" class="main" onClick={onClose}>
          I have saved it
        </button>
      </div>
    </ModalDialog>
  );
}
