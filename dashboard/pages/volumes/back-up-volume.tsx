import { useSignal } from "@preact/signals";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { type CreateBackupResponse, LVService, StateType } from "../../../gen/proto/lvmd_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { backupNameAt } from "./backup-name.ts";

/** Backs a volume up to the gateway's own repository. */
export function BackUpVolume({ volume }: { readonly volume: Resource }) {
  const name = useSignal(backupNameAt(new Date()));
  return (
    <ChangeForm
      title={`Back up the volume ${volume.title}`}
      label="Back up"
      method={LVService.method.createBackup}
      request={{ backup: { name: name.value, volumeHandle: volume.name } }}
      fields={["backup.name"]}
      assertAnswer={(answer) => assertStarted(answer as CreateBackupResponse | undefined)}
    >
      {({ errorOf }) => (
        <TextField
          label="Name of the backup"
          value={name}
          hint="Stored in the gateway's repository. The volume can stay in use."
          error={errorOf("backup.name")}
          required
        />
      )}
    </ChangeForm>
  );
}

/** CreateBackup reports a backup that cannot be started as a state, not as an error. */
function assertStarted(answer: CreateBackupResponse | undefined): void {
  if (answer?.backupState?.state === StateType.ERROR) {
    throw new Error(answer.backupState.msg);
  }
}
