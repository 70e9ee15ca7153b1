import { volumeResource } from "../../../../adapters/lvm/names.ts";
import type { RepositorySecrets } from "../../../backups/repository-place.ts";
import type { OperationKind } from "../../../operations/operation-kind.ts";
import { createdBy, createStep, releaseStep, removeTagsStep } from "../long-changes/filled-volume-steps.ts";
import { fillStep, locateStep } from "./fill-steps.ts";
import { locatedBy, type RestoreInput, type RestoreResult, type RestoreTools } from "./restore-run.ts";

const restoreKindName = "volumes.restore";

/**
 * volumes.restore: fills a new volume from a backup under a temporary name, and renames it when it is complete. If the
 * restore fails, the volume is removed.
 */
export function createRestoreKind(
  tools: RestoreTools,
): OperationKind<RestoreInput, RepositorySecrets | null> {
  return {
    kind: restoreKindName,
    system: "restic",
    runsOn: "host",
    steps: [
      locateStep(tools),
      createStep(tools, "restore"),
      fillStep(tools),
      releaseStep(tools),
      removeTagsStep(tools),
    ],
    pointOfNoReturn: "release",
    result: ({ input, output }): RestoreResult => ({
      volume: volumeResource(input.volumeGroup, input.volume),
      sizeBytes: createdBy({ output }).sizeBytes,
      restoredBytes: locatedBy({ output }).sizeBytes,
      snapshotId: locatedBy({ output }).snapshotId,
      backupId: locatedBy({ output }).backupId,
    }),
  };
}
