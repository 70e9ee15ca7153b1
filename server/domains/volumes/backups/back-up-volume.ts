import { randomUUID } from "node:crypto";
import { describeSize } from "../../../../adapters/host/describe-size.ts";
import { invalidField } from "../../../../adapters/host/infra-error.ts";
import type { LogicalVolume, LvmState, LvmStep, VolumeGroup } from "../../../../adapters/lvm/adapter.ts";
import type { NamedRepository, S3Fields } from "../../../backups/repositories.ts";
import { describePlace, type RepositorySecrets } from "../../../backups/repository-place.ts";
import type { CheckedOperation, LongChange } from "../../../domain/long-change.ts";
import { operationTag, temporaryName } from "../../../lvm/operation-marks.ts";
import { assertSameGroup } from "../../../lvm/operation-volumes.ts";
import { createShownCommand } from "../../../lvm/shown-command.ts";
import { snapshotStep } from "../../../lvm/snapshot-volume.ts";
import type { OperationKind } from "../../../operations/operation-kind.ts";
import { factsOfVolume } from "../changes/volume-change.ts";
import type { BackupParts } from "./backup-parts.ts";
import type { BackupInput } from "./backup-run.ts";
import { backupConfigKey as configKey } from "./backup-settings.ts";
import { resourceOf } from "./volume-handle.ts";

/** Name and destination of a requested backup. */
export interface BackupRequest {
  readonly name: string;
  /** Undefined: the local repository. */
  readonly s3: S3Fields | undefined;
  /** Name of the schedule that requests the backup; absent for a caller's request. */
  readonly schedule?: string;
}

/** A request for a backup of a volume that was found. */
export interface VolumeBackupRequest extends BackupRequest {
  readonly volume: LogicalVolume;
  /** The state in which the volume was found. */
  readonly state: LvmState;
}

type Secrets = RepositorySecrets | null;

const s3Prefix = "backup.data_source.s3.";

/** Placeholder in planned commands for the operation's ID, which is assigned only when it begins. */
const operationId = "OPERATION";

/**
 * Returns the operation that backs up a volume. A request joins the one in progress for this volume and name. Its `check` throws
 * InfraError INVALID_FIELD, ENDPOINT_NOT_ALLOWED, VOLUME_PROTECTED, VOLUME_INACTIVE, VOLUME_GROUP_GONE and NO_SPACE.
 */
export function createBackUpVolume(
  parts: BackupParts,
  kind: OperationKind<BackupInput, Secrets>,
): LongChange<VolumeBackupRequest, BackupInput, Secrets> {
  const { repositories, keys, settings, host } = parts;
  return {
    kind,
    async check({ name, s3, schedule = null, volume, state }) {
      const named = repositories.named(s3, s3Prefix);
      repositories.assertKeyFits(named, s3Prefix);
      if (named.selector !== "") {
        throw invalidField(`${s3Prefix}path`, "must not contain #, which selects a backup to restore");
      }
      const { volumeGroupName, uuid, thinPoolName } = volume;
      const groupUuid = state.volumeGroups.find((one) => one.name === volumeGroupName)?.uuid ?? "";
      const group = assertSameGroup(state, { volumeGroup: volumeGroupName, groupUuid });
      const { secrets, place } = named;
      const resource = resourceOf(volume);
      const planned =
        schedule === null
          ? describeBackup(parts, { name, volume, group, named })
          : // A schedule has no caller to report an error to: its operation begins and fails instead, which is visible.
            { plan: { changes: [], losses: [], facts: [] }, steps: [] };
      return {
        resource,
        backend: groupUuid,
        input: async ({ actor }): Promise<BackupInput> => ({
          backupId: randomUUID(),
          name,
          schedule,
          host,
          volumeGroup: volumeGroupName,
          groupUuid,
          volume: volume.name,
          volumeUuid: uuid,
          thinPool: thinPoolName ?? null,
          snapshotPercent: settings.snapshotPercent,
          place,
          actor,
          keyName: hasOwnKey(named) ? null : await keys.ensure(place),
        }),
        secrets,
        attachKey: `backup ${host} ${resource} ${name}`,
        ...planned,
      };
    },
  };
}

function hasOwnKey({ secrets }: NamedRepository): boolean {
  return typeof secrets?.encryptionKey === "string";
}

interface DescribedBackup {
  readonly name: string;
  readonly volume: LogicalVolume;
  readonly group: VolumeGroup;
  readonly named: NamedRepository;
}

/** @throws InfraError VOLUME_PROTECTED, VOLUME_INACTIVE, NO_SPACE if no snapshot can be taken */
function describeBackup(
  { lvm, restic, settings }: BackupParts,
  { name, volume, group, named }: DescribedBackup,
): Pick<CheckedOperation<BackupInput>, "plan" | "steps"> {
  const step = (label: string, command: readonly string[] = []) => ({ name: label, command });
  const lvmStep = (label: string, call: LvmStep) => step(label, lvm.commandOf(call));
  const snapshotName = temporaryName("backup", operationId);
  const { volumeGroupName } = volume;
  const snapshot = snapshotStep({
    volume,
    group,
    name: snapshotName,
    tags: [operationTag(operationId)],
    percent: settings.snapshotPercent,
    configKey,
    shown: createShownCommand(lvm),
  });
  const key = hasOwnKey(named) ? "the key of the request" : "the gateway's key";
  const what = `${volumeGroupName}/${volume.name}, ${describeSize(volume.sizeBytes)}`;
  return {
    plan: {
      changes: [`${what}, is stored as ${name} in ${describePlace(named.place)}, encrypted with ${key}`],
      losses: [],
      facts: factsOfVolume(volume),
    },
    steps: [
      step("open"),
      lvmStep("snapshot", snapshot),
      step("store", restic.commandOf("backup")),
      step("verify"),
      step("record"),
      lvmStep("removeSnapshot", { kind: "remove", volumeGroupName, name: snapshotName }),
    ],
  };
}
