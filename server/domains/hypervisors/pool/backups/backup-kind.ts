import { describePlace } from "../../../../backups/repository-place.ts";
import type { OperationKind } from "../../../../operations/operation-kind.ts";
import {
  type PoolBackupInput,
  type PoolBackupResult,
  type PoolBackupTools,
  verifiedBy,
} from "./backup-run.ts";
import { chooseStep, openStep } from "./choose-steps.ts";
import { cleanStep, recordStep, skippedBy, verifyStep } from "./keep-steps.ts";
import { storeStep } from "./store-step.ts";

const backupKindName = "storagePool.backup";

/**
 * storagePool.backup: stores every volume of the pool in the repository, each as of one point in time. Everything that it
 * creates is tagged with the operation's id, so that it can be found again.
 */
export function createPoolBackupKind(tools: PoolBackupTools): OperationKind<PoolBackupInput> {
  return {
    kind: backupKindName,
    system: "restic",
    runsOn: "host",
    steps: [
      openStep(tools),
      chooseStep(tools),
      storeStep(tools),
      verifyStep(tools),
      recordStep(tools),
      cleanStep(tools),
    ],
    pointOfNoReturn: "record",
    result: ({ input, output }): PoolBackupResult => {
      const { stored } = verifiedBy({ output });
      return {
        name: input.name,
        repository: describePlace(input.place),
        volumeCount: stored.length,
        sizeBytes: stored.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
        skipped: skippedBy({ output }),
      };
    },
  };
}
