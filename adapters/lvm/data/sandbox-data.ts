import { InfraError } from "../../host/infra-error.ts";
import { errorFromSignal } from "../../host/process/tool-errors.ts";
import { hostReasons } from "../../host/reasons.ts";
import type { Clock } from "../../sandbox/clock.ts";
import { lvmReasons } from "../reasons.ts";
import type { SandboxGroups, SandboxVolume } from "../sandbox/sandbox-groups.ts";
import type { FileSystem, LvmData, LvmDataStep } from "./data-adapter.ts";
import { growCommandOf } from "./file-systems.ts";
import { assertGrowable } from "./growable.ts";
import { commandOf } from "./lvm-data.ts";

export interface SandboxDataOptions {
  readonly groups: SandboxGroups;
  readonly clock: Clock;
  /** Duration of a step that writes this many bytes. */
  readonly copyMs: (sizeBytes: bigint) => number;
}

/** Number of progress reports of a step. */
const rounds = 10;

/**
 * Creates the content of the sandbox's volumes, which hold no data: steps take time, report progress and can be stopped. An open
 * volume counts as one with a mounted ext4.
 */
export function createSandboxData({
  groups,
  clock,
  copyMs,
}: SandboxDataOptions): LvmData & { close(): void } {
  const closing = new AbortController();
  const running = new Set<{ readonly token: string; readonly stop: AbortController }>();

  function find(volumeGroupName: string, name: string): SandboxVolume {
    const volume = groups.find(volumeGroupName, name);
    if (volume?.active !== true) {
      const words = `/dev/${volumeGroupName}/${name} cannot be opened (ENOENT)`;
      throw new InfraError(hostReasons.TOOL_FAILED, words);
    }
    return volume;
  }

  function assertUnused({ volumeGroupName, name, open }: SandboxVolume): void {
    if (open) {
      throw new InfraError(hostReasons.VOLUME_IN_USE, `/dev/${volumeGroupName}/${name} is in use`);
    }
  }

  function assertPossible(step: LvmDataStep): void {
    assertUnused(find(step.volumeGroupName, step.name));
    if (step.kind === "copy") {
      const source = find(step.volumeGroupName, step.sourceName);
      if (step.holdsSource) {
        assertUnused(source);
      }
    }
  }

  function fileSystemOf({ volumeGroupName, name, open }: SandboxVolume): FileSystem | undefined {
    return open ? { type: "ext4", mountPoint: `/sandbox/${volumeGroupName}/${name}` } : undefined;
  }

  return {
    commandOf,
    async run(step, { signal, token, onProgress }) {
      assertPossible(step);
      const one = { token, stop: new AbortController() };
      const stop = AbortSignal.any([signal, closing.signal, one.stop.signal]);
      running.add(one);
      try {
        const totalBytes = Number(step.sizeBytes);
        for (let round = 1; round <= rounds; round += 1) {
          await clock.sleep(copyMs(step.sizeBytes) / rounds, stop).catch(() => {
            throw errorFromSignal(stop, "dd");
          });
          find(step.volumeGroupName, step.name);
          onProgress({ doneBytes: Math.floor((totalBytes * round) / rounds), totalBytes });
        }
        if (step.kind === "wipe" && step.isThin) {
          groups.alter(find(step.volumeGroupName, step.name), { dataPercent: 0 });
        }
      } finally {
        running.delete(one);
      }
    },
    async settle(token) {
      for (const one of running) {
        if (one.token === token) {
          one.stop.abort(
            new InfraError(hostReasons.SHUTTING_DOWN, "the gateway that started it has stopped"),
          );
        }
      }
    },
    fileSystemOn: async ({ volumeGroupName, name }) => fileSystemOf(find(volumeGroupName, name)),
    growCommandOf: (volume, fileSystem) => growCommandOf([], volume, fileSystem),
    async growFileSystem({ volumeGroupName, name }) {
      const volume = groups.find(volumeGroupName, name);
      if (volume === undefined) {
        throw new InfraError(lvmReasons.VOLUME_NOT_FOUND, `${volumeGroupName}/${name} does not exist`);
      }
      assertGrowable(volume, fileSystemOf(volume));
    },
    close: () => closing.abort(new InfraError(hostReasons.SHUTTING_DOWN, "The gateway is stopping")),
  };
}
