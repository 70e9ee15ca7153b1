import { useSignal } from "@preact/signals";
import { type CreateBackupResponse, LVService, StateType } from "../../../gen/proto/lvmd_pb.ts";
import { useProposal } from "../../action/use-proposal.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { backupNameAt } from "./backup-name.ts";

/**
 * Backs a volume up to the gateway's own repository.
 * @param handle the volume's resource; a name without its group is rejected if two groups have a volume of that name
 */
export function BackUpVolume(props: { readonly name: string; readonly handle: string }) {
  const name = useSignal(backupNameAt(new Date()));
  const form = useProposal(["backup.name"]);

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    void form.submit({
      title: `Back up the volume ${props.name}`,
      label: "Back up",
      method: LVService.method.createBackup,
      request: { backup: { name: name.value, volumeHandle: props.handle } },
      assertAnswer: (answer) => assertStarted(answer as CreateBackupResponse | undefined),
      onDone: () => {
        name.value = backupNameAt(new Date());
      },
    });
  }

  return (
    <form class="card stack" aria-labelledby="back-up-volume" onSubmit={submit}>
      <h2 id="back-up-volume">Back up now</h2>
      <TextField
        label="Name of the backup"
        value={name}
        hint="Stored in the gateway's repository. The volume can stay in use."
        error={form.errorOf("backup.name")}
        required
      />
      {form.error !== undefined && <ErrorNote error={form.error} />}
      <button type="submit" disabled={form.isChecking}>
        Back up …
      </button>
    </form>
  );
}

/** CreateBackup reports a backup that cannot be started as a state, not as an error. */
function assertStarted(answer: CreateBackupResponse | undefined): void {
  if (answer?.backupState?.state === StateType.ERROR) {
    throw new Error(answer.backupState.msg);
  }
}
