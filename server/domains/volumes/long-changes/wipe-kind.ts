import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LogicalVolume, LvmState } from "../../../../adapters/lvm/adapter.ts";
import type { LvmData } from "../../../../adapters/lvm/data/data-adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import type { OperationVolumes } from "../../../lvm/operation-volumes.ts";
import type { OperationKind } from "../../../operations/operation-kind.ts";

/** Input of an operation that wipes and removes a volume. */
export type WipeInput = {
  readonly volumeGroup: string;
  readonly groupUuid: string;
  readonly volume: string;
  readonly volumeUuid: string;
  readonly thinPool: string | null;
  readonly sizeBytes: number;
};

export interface WipeTools {
  readonly operationVolumes: OperationVolumes;
  readonly data: LvmData;
}

/** volumes.wipe: overwrites or discards the data of a volume, then removes the volume. */
export function createWipeKind({ operationVolumes, data }: WipeTools): OperationKind<WipeInput> {
  return {
    kind: "volumes.wipe",
    system: "lvm",
    runsOn: "host",
    steps: [
      {
        name: "wipe",
        title: "wiping the volume",
        weight: 100,
        isAbortable: true,
        async happened({ token }) {
          await data.settle(token);
          return undefined;
        },
        async forward({ input, signal, token, progress: onProgress }) {
          const { volumeGroup: volumeGroupName, thinPool, sizeBytes } = input;
          const volume = findVolume(await operationVolumes.readState(), input);
          if (volume === undefined) {
            throw volumeGone(input);
          }
          const wiped = { volumeGroupName, name: volume.name, sizeBytes: BigInt(sizeBytes) };
          await data.run(
            { kind: "wipe", ...wiped, isThin: thinPool !== null },
            { signal, token, onProgress },
          );
          return null;
        },
        undo: ({ token }) => data.settle(token),
      },
      {
        name: "remove",
        title: "removing the volume",
        isAbortable: false,
        // udev probes a device after it was closed, and keeps it open for a moment.
        maxAttempts: 6,
        async forward({ input, signal }) {
          const { volumeGroup: volumeGroupName } = input;
          await operationVolumes.change(
            input,
            "volumes.remove",
            (state) => {
              const volume = findVolume(state, input);
              return volume === undefined ? [] : [{ kind: "remove", volumeGroupName, name: volume.name }];
            },
            signal,
          );
          return null;
        },
        attention: ({ input: { volumeGroup, volume } }) => ({
          left: [`${volumeGroup}/${volume} is wiped, but still exists.`],
          advice: [
            `Check what has it open (\`lsof /dev/${volumeGroup}/${volume}\`), then retry the operation.`,
          ],
        }),
      },
    ],
    pointOfNoReturn: "wipe",
    result: ({ input }) => ({ volume: volumeResource(input.volumeGroup, input.volume) }),
  };
}

function findVolume(state: LvmState, { volumeUuid, volumeGroup }: WipeInput): LogicalVolume | undefined {
  return state.volumes.find((one) => one.uuid === volumeUuid && one.volumeGroupName === volumeGroup);
}

function volumeGone({ volumeGroup, volume }: WipeInput): InfraError {
  const words = `${volumeGroup}/${volume} was removed outside hostplane before it was wiped`;
  return new InfraError(lvmReasons.VOLUME_NOT_FOUND, words, {
    resource: volumeResource(volumeGroup, volume),
  });
}
