import type { MessageInitShape } from "@bufbuild/protobuf";
import { useSignal } from "@preact/signals";
import {
  type Backup,
  BackupService,
  type RestoreBackupRequestSchema,
} from "../../../gen/hostplane/v1/backup_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { useWatch } from "../../live/use-watch.ts";
import { SelectField } from "../../parts/form/select-field.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { client } from "../../session.ts";
import { useSizeGib } from "./size-input.ts";
import { parseTags } from "./volume-tags.ts";

/**
 * Restores a backup to a new volume.
 * @param accessed returns the backup's id with the credentials of its repository
 */
export function RestoreBackup(props: {
  readonly backup: Backup;
  readonly accessed: () => MessageInitShape<typeof RestoreBackupRequestSchema>;
}) {
  const { backup, accessed } = props;
  const space = useWatch((options) => client.volumeGroups.watch({}, options));
  const volumeName = useSignal("");
  const tags = useSignal("");
  const deviceClass = useSignal("");
  const size = useSizeGib(`${sizeGibOf(backup)} GiB`);
  const classes = space.value.value?.items ?? [];
  return (
    <ChangeForm
      title={`Restore the backup ${backup.name} to ${volumeName.value}`}
      label="Restore"
      method={BackupService.method.restoreBackup}
      request={
        volumeName.value === "" || size.gib === undefined
          ? undefined
          : {
              ...accessed(),
              volumeName: volumeName.value,
              deviceClass: deviceClass.value,
              sizeGb: size.gib,
              tags: parseTags(tags.value),
            }
      }
      fields={["volume_name", "size_gb", "tags"]}
      fieldOfReason={{ VOLUME_EXISTS: "volume_name", NO_SPACE: "size_gb", VOLUME_TOO_SMALL: "size_gb" }}
    >
      {({ errorOf }) => (
        <>
          <TextField label="New volume" value={volumeName} error={errorOf("volume_name")} required />
          <TextField
            label="Size"
            value={size.text}
            hint={`At least ${sizeText(backup.sizeBytes)}`}
            error={size.error ?? errorOf("size_gb")}
            required
          />
          <SelectField
            label="Device class"
            value={deviceClass}
            options={[
              { value: "", text: "The default" },
              ...classes.map((item) => ({
                value: item.deviceClass,
                text: `${item.deviceClass} (${sizeText(item.freeBytes)} free)`,
              })),
            ]}
          />
          <TextField label="Tags" value={tags} error={errorOf("tags")} />
        </>
      )}
    </ChangeForm>
  );
}

/** Rounded up, as the gateway does. */
function sizeGibOf({ sizeBytes }: Backup): bigint {
  return (sizeBytes + (1n << 30n) - 1n) >> 30n;
}
