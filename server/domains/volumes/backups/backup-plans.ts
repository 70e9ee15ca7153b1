import { describeSize } from "../../../../adapters/host/describe-size.ts";
import type { LvmStep } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import { operationTag, temporaryName, wantedNameTag } from "../../../backups/lvm/operation-marks.ts";
import { createShownCommand } from "../../../backups/lvm/shown-command.ts";
import { snapshotStep } from "../../../backups/lvm/snapshot-volume.ts";
import { describePlace, type RepositoryPlace } from "../../../backups/repository-place.ts";
import type { PlannedMutation } from "../../../operations/mutation.ts";
import { backupKindName } from "./backup-kind.ts";
import type { BackupParts } from "./backup-parts.ts";
import { backupConfigKey as configKey } from "./backup-settings.ts";
import type { PlannedBackup } from "./begin-backup.ts";
import { restoreKindName } from "./restore-kind.ts";
import type { PlannedRestore } from "./restore-volume.ts";

/** Placeholder in commands for the operation's id, which is assigned only when the operation begins. */
const operationId = "OPERATION";

/** Plans of backup and restore operations. */
export interface BackupPlans {
  backup(planned: PlannedBackup): PlannedMutation;
  restore(planned: PlannedRestore): PlannedMutation;
}

export function createBackupPlans({ lvm, restic }: Pick<BackupParts, "lvm" | "restic">): BackupPlans {
  const lvmStep = (name: string, step: LvmStep) => ({ name, command: lvm.commandOf(step) });
  const step = (name: string, command: readonly string[] = []) => ({ name, command });

  return {
    backup({ volume, group, named, input }) {
      const { volumeGroup, volume: volumeName, place } = input;
      const name = temporaryName("backup", operationId);
      const made = snapshotStep({
        volume,
        group,
        name,
        tags: [operationTag(operationId)],
        percent: input.snapshotPercent,
        configKey,
        shown: createShownCommand(lvm),
      });
      const key =
        typeof named.secrets?.encryptionKey === "string" ? "the key of the request" : "the gateway's key";
      return {
        kind: backupKindName,
        resource: volumeResource(volumeGroup, volumeName),
        backend: input.groupUuid,
        plan: {
          changes: [
            `${volumeGroup}/${volumeName}, ${describeSize(volume.sizeBytes)}, is stored as ${input.name} in ${describePlace(place)}, encrypted with ${key}`,
          ],
          losses: [],
        },
        steps: [
          step("open"),
          lvmStep("snapshot", made),
          step("store", restic.commandOf("backup")),
          step("verify"),
          step("record"),
          lvmStep("removeSnapshot", { kind: "remove", volumeGroupName: volumeGroup, name }),
        ],
        pointOfNoReturn: 4,
      };
    },

    restore({ input, resource, change, create }) {
      const name = temporaryName("restore", operationId);
      const at = { volumeGroupName: input.volumeGroup };
      const tags = [operationTag(operationId), wantedNameTag(input.volume)];
      return {
        kind: restoreKindName,
        resource,
        backend: input.groupUuid,
        plan: {
          changes: [`${change}, and filled from ${sourceWords(input.place, input.selector)}`],
          losses: [],
        },
        steps: [
          step("locate"),
          lvmStep("create", { ...create, name, tags: [...create.tags, ...tags] }),
          step("fill", restic.commandOf("restore")),
          lvmStep("release", { kind: "rename", ...at, name, newName: input.volume }),
          lvmStep("removeTags", {
            kind: "changeTags",
            ...at,
            name: input.volume,
            addTags: [],
            removeTags: tags,
          }),
        ],
        pointOfNoReturn: 3,
      };
    },
  };
}

function sourceWords(place: RepositoryPlace, selector: string): string {
  const which = selector === "" ? "the latest backup" : `the backup ${selector}`;
  return `${which} in ${describePlace(place)}`;
}
