import type { CreateHostTokenResponse } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ModalDialog } from "../../parts/form/modal-dialog.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";

/** Shows the command with which a host joins. It contains a token that cannot be shown again. */
export function JoinCommand(props: { readonly of: CreateHostTokenResponse; readonly onClose: () => void }) {
  const { token, expiresAt } = props.of;
  const command = `hostplane host join ${token}`;
  return (
    <ModalDialog title="Let the host join" onClose={props.onClose} keepsOnEscape>
      <p>
        Run this on the host, whose gateway is running. The token is valid for one host and cannot be shown
        again; it expires <TimeText at={expiresAt} />.
      </p>
      <pre class="json">{command}</pre>
      <div class="row end">
        <CopyButton text={command} label="Copy command" />
        <button type="button" class="main" onClick={props.onClose}>
          Done
        </button>
      </div>
    </ModalDialog>
  );
}
