import { hasReason, InfraError } from "../../../../../adapters/host/infra-error.ts";
import { libvirtReasons } from "../../../../../adapters/libvirt/reasons.ts";
import type { ResticAdapter } from "../../../../../adapters/restic/adapter.ts";
import { resticReasons } from "../../../../../adapters/restic/reasons.ts";
import type { Repositories } from "../../../../backups/repositories.ts";
import type { RepositoryPlace, RepositorySecrets } from "../../../../backups/repository-place.ts";
import type { Operation } from "../../../../operations/operation.ts";
import type { OperationKind, OperationStep, StepRun } from "../../../../operations/operation-kind.ts";
import { type PoolRefresh, refreshFailureOf, refreshStep } from "../changes/pool-run.ts";
import { poolVolumeResourceOf } from "./backup-run.ts";
import type { CreatedVolume, PoolVolumeSpec, RestoredVolumes, VolumesHolder } from "./pool-volumes.ts";

export const restoreKindName = "storagePool.restoreVolume";
const pointOfNoReturn = "publish";

/** Input of a restore into the pool. */
export type PoolRestoreInput = {
  readonly name: string;
  readonly sizeBytes: number;
  /** `PoolState.identity` of the pool that the request is about. */
  readonly identity: string;
  readonly backupId: string;
  readonly snapshotId: string;
  readonly fileName: string;
  readonly place: RepositoryPlace;
  /** Name of the gateway's encryption key; null: the owner has the key. */
  readonly keyName: string | null;
};

/** Output of the `create` step; null: the volume existed already and was not created by the operation. */
type CreateOutput = { readonly made: CreatedVolume | null };

type Run = StepRun<PoolRestoreInput, RepositorySecrets | null>;
type Step = OperationStep<PoolRestoreInput, RepositorySecrets | null>;

export interface PoolRestoreTools {
  readonly restores: RestoredVolumes;
  readonly restic: ResticAdapter;
  readonly repositories: Repositories;
  readonly refresh: PoolRefresh | undefined;
}

/** storagePool.restoreVolume: creates a fully allocated volume and fills it. If that fails, the volume is removed. */
export function createPoolRestoreKind(
  tools: PoolRestoreTools,
): OperationKind<PoolRestoreInput, RepositorySecrets | null> {
  return {
    kind: restoreKindName,
    system: "restic",
    runsOn: "host",
    steps: [
      locateStep(tools),
      createStep(tools),
      fillStep(tools),
      publishStep(tools),
      unmarkStep(tools),
      refreshStep(tools),
    ],
    pointOfNoReturn,
    result: ({ input, output }) => ({
      volume: poolVolumeResourceOf(input.name),
      sizeBytes: input.sizeBytes,
      backupId: input.backupId,
      refreshFailure: refreshFailureOf({ output }),
    }),
  };
}

/**
 * Returns the names of volumes that are or may be incomplete.
 * @param operations restores that have not ended, that ended without being undone, or that are completed; newest first
 */
export function namesOfUnfinished(operations: readonly Operation[]): readonly string[] {
  const isWholeByName = new Map<string, boolean>();
  // The newest restore of a name decides: it began only after the remains of older ones were gone.
  for (const { input, steps } of operations.toReversed()) {
    const { name } = input as PoolRestoreInput;
    const isWhole = steps.some((step) => step.name === pointOfNoReturn && step.state === "done");
    isWholeByName.set(name, isWhole);
  }
  return [...isWholeByName].flatMap(([name, isWhole]) => (isWhole ? [] : [name]));
}

/** Checks the backup and the pool before anything is created. */
function locateStep({ restores, restic, repositories }: PoolRestoreTools): Step {
  return {
    name: "locate",
    title: "looking for the backup",
    isAbortable: true,
    async forward(run) {
      const { place, keyName, snapshotId, sizeBytes } = run.input;
      const repository = await repositories.open(place, run.secrets, keyName);
      const storedBytes = await restic.sizeOf(repository, snapshotId, run.signal);
      if (storedBytes !== sizeBytes) {
        const words = `the backup ${run.input.backupId} has ${storedBytes} of ${sizeBytes} bytes`;
        throw new InfraError(resticReasons.BACKUP_DAMAGED, words);
      }
      await restores.assertPossible(specOf(run), holderOf(run));
      return null;
    },
  };
}

function createStep({ restores }: PoolRestoreTools): Step {
  return {
    name: "create",
    title: "creating the volume",
    isAbortable: false,
    maxAttempts: 6,
    async happened(run) {
      const created = await restores.find(specOf(run), holderOf(run));
      return created === undefined ? undefined : { output: { made: created } satisfies CreateOutput };
    },
    async forward(run): Promise<CreateOutput> {
      try {
        return { made: await restores.create(specOf(run), holderOf(run)) };
      } catch (error) {
        if (hasReason(error, libvirtReasons.STORAGE_VOLUME_EXISTS)) {
          // Only a volume from an earlier attempt counts as the operation's own; any other is never deleted.
          const created = run.attempt > 1 ? await restores.find(specOf(run), holderOf(run)) : undefined;
          return { made: created ?? null };
        }
        throw error;
      }
    },
    async undo(run) {
      const output = run.output("create") as CreateOutput | undefined;
      if (output?.made !== null) {
        await restores.remove(specOf(run), output?.made, holderOf(run));
      }
    },
    attention: (run) => restores.leftOf(specOf(run), run.operationId),
  };
}

function fillStep({ restores, restic, repositories }: PoolRestoreTools): Step {
  return {
    name: "fill",
    title: "filling the volume",
    weight: 100,
    isAbortable: true,
    maxAttempts: 6,
    async happened({ token }) {
      // A retry fills the volume from its beginning, but not while an earlier restic still writes to it.
      await restic.settle(token);
      return undefined;
    },
    async forward(run) {
      const { input, secrets, signal, token } = run;
      const { snapshotId: id, fileName, sizeBytes, place, keyName } = input;
      const repository = await repositories.open(place, secrets, keyName);
      const backup = { id, fileName, sizeBytes };
      const onProgress = (doneBytes: number) => run.progress({ doneBytes, totalBytes: sizeBytes });
      const content = {
        read: () => restic.read(repository, backup, { signal, token, onProgress: () => {} }),
        writeTo: (device: string) =>
          restic.restore(repository, backup, device, {
            signal,
            token,
            onProgress: ({ doneBytes }) => onProgress(doneBytes),
          }),
        onProgress,
      };
      await restores.fill(specOf(run), createdBy(run), content, holderOf(run));
      return null;
    },
    undo: ({ token }) => restic.settle(token),
    attention: ({ input }) => ({
      left: [`restic may still be writing to the volume that was being restored to ${input.name}.`],
      advice: ["Check with `pgrep -a restic`, then retry the operation, which removes the volume."],
    }),
  };
}

function publishStep({ restores }: PoolRestoreTools): Step {
  return {
    name: "publish",
    title: "renaming the volume",
    isAbortable: false,
    async forward(run) {
      await restores.publish(specOf(run), createdBy(run), holderOf(run));
      return null;
    },
  };
}

function unmarkStep({ restores }: PoolRestoreTools): Step {
  return {
    name: "unmark",
    title: "removing the tags of the restore",
    isAbortable: false,
    async forward(run) {
      await restores.unmark(specOf(run), holderOf(run));
      return null;
    },
    attention: ({ input }) => ({
      left: [`${input.name} is restored and can be used; it may still have a tag of the operation.`],
      advice: ["Retry the operation, which removes the tag."],
    }),
  };
}

function specOf({ input: { name, sizeBytes } }: Pick<Run, "input">): PoolVolumeSpec {
  return { name, sizeBytes };
}

function holderOf({ operationId, input, signal }: Run): VolumesHolder {
  return { operationId, identity: input.identity, signal };
}

/** @throws InfraError STORAGE_VOLUME_EXISTS */
function createdBy({ input, output }: Run): CreatedVolume {
  const { made } = output("create") as CreateOutput;
  if (made === null) {
    const words = `a volume ${input.name} was created outside hostplane meanwhile`;
    throw new InfraError(libvirtReasons.STORAGE_VOLUME_EXISTS, words, {
      resource: poolVolumeResourceOf(input.name),
    });
  }
  return made;
}
