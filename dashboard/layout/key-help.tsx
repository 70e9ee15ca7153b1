import { signal } from "@preact/signals";
import { ModalDialog } from "../parts/form/modal-dialog.tsx";
import { boundKeys, setSingleKeys, singleKeys } from "../parts/keys.ts";

export const isKeyHelpOpen = signal(false);

/** All keys that do something on this page. */
export function KeyHelp() {
  if (!isKeyHelpOpen.value) {
    return null;
  }
  const keys = boundKeys().filter(({ does }) => does !== undefined);
  return (
    <ModalDialog
      title="Keys"
      onClose={() => {
        isKeyHelpOpen.value = false;
      }}
    >
      <dl class="facts">
        <dt>
          <kbd>Ctrl K</kbd>
        </dt>
        <dd>search or run a command</dd>
        {keys.map(({ key, does }) => [
          <dt key={`${key} key`}>
            <kbd>{key === "delete" ? "Del" : key.toUpperCase()}</kbd>
          </dt>,
          <dd key={key}>{does}</dd>,
        ])}
      </dl>
      <label class="row">
        <input
          type="checkbox"
          checked={singleKeys.value}
          onChange={({ currentTarget }) => setSingleKeys(currentTarget.checked)}
        />
        Use keys without Ctrl
      </label>
      <div class="row end">
        <button
          type="button"
          onClick={() => {
            isKeyHelpOpen.value = false;
          }}
        >
          Close
        </button>
      </div>
    </ModalDialog>
  );
}
