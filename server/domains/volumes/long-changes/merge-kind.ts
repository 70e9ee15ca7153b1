import { setTimeout as sleep } from "node:timers/promises";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LogicalVolume } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import type { OperationVolumes } from "../../../lvm/operation-volumes.ts";
import type { OperationKind, OperationStep, StepRun } from "../../../operations/operation-kind.ts";

/** Input of an operation that merges a snapshot into its origin. */
export type MergeInput = {
  readonly volumeGroup: string;
  readonly groupUuid: string;
  /** Name of the origin. */
  readonly volume: string;
  readonly volumeUuid: string;
  readonly thinPool: string | null;
  /** Name of the snapshot. */
  readonly snapshot: string;
  readonly snapshotUuid: string;
  /** Whether the merge had to wait for an activation of the origin when the operation began. */
  readonly waitsForActivation: boolean;
};

/** Result of an operation that merges a snapshot. */
export type MergeResult = {
  /** Resource of the origin. */
  readonly volume: string;
  /** Whether the merge happens when the origin is activated again. */
  readonly waitsForActivation: boolean;
};

type MergeOutput = { readonly waitsForActivation: boolean };
type Run = StepRun<MergeInput, null>;
type Step = OperationStep<MergeInput, null>;

/** Interval at which a running merge is read. */
const pollMs = 1_000;

/**
 * volumes.merge: merges a snapshot into its origin. It cannot be cancelled once LVM has begun, and does not wait for a merge that
 * LVM has postponed until the origin is activated.
 */
export function createMergeKind(operationVolumes: OperationVolumes): OperationKind<MergeInput> {
  return {
    kind: "volumes.merge",
    system: "lvm",
    runsOn: "host",
    steps: [mergeStep(operationVolumes), awaitStep(operationVolumes)],
    pointOfNoReturn: "merge",
    result: ({ input, output }): MergeResult => ({
      volume: volumeResource(input.volumeGroup, input.volume),
      waitsForActivation: (output("await") as MergeOutput).waitsForActivation,
    }),
  };
}

function mergeStep(operationVolumes: OperationVolumes): Step {
  return {
    name: "merge",
    title: "beginning the merge",
    isAbortable: false,
    async happened({ input }) {
      const { volumes } = await operationVolumes.readState();
      return volumes.some(({ uuid }) => uuid === input.snapshotUuid) ? undefined : { output: null };
    },
    async forward({ input, signal }) {
      const { volumeGroup: volumeGroupName, thinPool } = input;
      await operationVolumes.change(
        input,
        "volumes.merge",
        ({ volumes }) => {
          const snapshot = volumes.find(({ uuid }) => uuid === input.snapshotUuid);
          const origin = volumes.find(({ uuid }) => uuid === input.volumeUuid);
          if (snapshot === undefined || snapshot.originName !== origin?.name) {
            throw gone(input);
          }
          return [{ kind: "merge", volumeGroupName, name: snapshot.name, isThin: thinPool !== null }];
        },
        signal,
      );
      return null;
    },
  };
}

/** Waits until the merge has ended, unless it waits for an activation. Another gateway continues to wait. */
function awaitStep(operationVolumes: OperationVolumes): Step {
  const readOrigin = async ({ input }: Run): Promise<LogicalVolume> => {
    const { volumes } = await operationVolumes.readState();
    const origin = volumes.find(({ uuid }) => uuid === input.volumeUuid);
    if (origin === undefined) {
      throw gone(input);
    }
    return origin;
  };
  return {
    name: "await",
    title: "merging the snapshot",
    weight: 100,
    isAbortable: true,
    async happened(run) {
      const { name, merging } = await readOrigin(run);
      if (merging) {
        const { input, signal } = run;
        const step = { kind: "resumeMerge", volumeGroupName: input.volumeGroup, name } as const;
        await operationVolumes.change(input, "volumes.resumeMerge", () => [step], signal);
      }
      return undefined;
    },
    async forward(run): Promise<MergeOutput> {
      for (;;) {
        const { merging, dataPercent, thinPoolName } = await readOrigin(run);
        const waitsForActivation = merging && (thinPoolName !== undefined || dataPercent === undefined);
        if (!merging || waitsForActivation) {
          return { waitsForActivation };
        }
        run.progress({ message: `merging the snapshot: ${dataPercent} % of its space is left` });
        await sleep(pollMs, undefined, { signal: run.signal });
      }
    },
    attention: ({ input: { volumeGroup, volume } }) => ({
      left: [`A snapshot is being merged into ${volumeGroup}/${volume}; the merge continues.`],
      advice: ["Retry the operation, which waits for its end."],
    }),
  };
}

function gone({ volumeGroup, volume, snapshot }: MergeInput): InfraError {
  const words = `${volumeGroup}/${volume} or its snapshot ${snapshot} was removed outside hostplane`;
  return new InfraError(lvmReasons.VOLUME_NOT_FOUND, words, {
    resource: volumeResource(volumeGroup, volume),
  });
}
