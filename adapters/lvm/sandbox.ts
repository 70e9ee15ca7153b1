import { setImmediate as nextTurn } from "node:timers/promises";
import { createLimiter } from "../host/limiter.ts";
import { createSnapshotCache } from "../host/snapshot.ts";
import { systemClock } from "../sandbox/clock.ts";
import type { SandboxOptions } from "../sandbox/sandbox-options.ts";
import { createStepFaults } from "../sandbox/step-faults.ts";
import type { LvmAdapter, LvmStep } from "./adapter.ts";
import { createSandboxData } from "./data/sandbox-data.ts";
import type { LvmDeviceStep, LvmDeviceStepOptions } from "./device-adapter.ts";
import { anyCommandOf } from "./device-commands.ts";
import { applySandboxDeviceStep } from "./sandbox/sandbox-device-steps.ts";
import type { SandboxDevice } from "./sandbox/sandbox-devices.ts";
import { createSandboxGroups } from "./sandbox/sandbox-groups.ts";
import { applySandboxStep } from "./sandbox/sandbox-steps.ts";

export interface SandboxVolume {
  readonly name: string;
  /** Size of the volume; for a snapshot, the space for its differences. */
  readonly sizeBytes: bigint;
  readonly tags?: readonly string[];
  readonly thinPool?: boolean;
  /** The volume it is a snapshot of, which must be listed before it. */
  readonly snapshotOf?: string;
  /** Simulates a mounted volume, which cannot be deactivated. */
  readonly open?: boolean;
}

export interface SandboxVolumeGroup {
  readonly name: string;
  /** Size of a single device for the group; 0 by default. */
  readonly sizeBytes?: bigint;
  /** 4 MiB, LVM's own default, if absent. */
  readonly extentSizeBytes?: bigint;
  readonly volumes?: readonly SandboxVolume[];
  /** Devices of the group, instead of a single one. */
  readonly devices?: readonly SandboxDevice[];
}

export interface LvmSandboxOptions extends SandboxOptions<LvmStep> {
  readonly volumeGroups?: readonly SandboxVolumeGroup[];
  /** Devices that are in no group. */
  readonly spares?: readonly SandboxDevice[];
  /** Duration of a `moveAway`; 0 by default. */
  readonly moveMs?: number;
  /** Duration of a copy or wipe, by the number of bytes that it writes; 200 ms by default. */
  readonly copyMs?: (sizeBytes: bigint) => number;
}

/** Number of progress reports of a move. */
const moveRounds = 10;

const gibibyte = 1n << 30n;

/** Default content: examples to look at, and 9 GiB free to try things with. */
export const quietVolumeGroups: readonly SandboxVolumeGroup[] = [
  {
    name: "sandbox-vg",
    sizeBytes: 16n * gibibyte,
    volumes: [
      { name: "sandbox-web", sizeBytes: 2n * gibibyte, tags: ["app=web"] },
      { name: "sandbox-db", sizeBytes: 5n * gibibyte, tags: ["app=db", "backup"], open: true },
    ],
  },
];

/**
 * LVM in memory: the same rules, errors and rounding as the real one, with volumes that hold no data. Nothing is
 * random, and nothing on the host is touched.
 */
export function createLvmSandbox(options: LvmSandboxOptions = {}): LvmAdapter {
  const { clock = systemClock, faults = createStepFaults() } = options;
  const groups = createSandboxGroups();
  // One at a time, as LVM does within a group.
  const limiter = createLimiter({ what: "lvm commands", maxRunning: 1, maxWaiting: 256 });
  const cache = createSnapshotCache({ system: "lvm", load: async () => groups.state() });
  const data = createSandboxData({ groups, clock, copyMs: options.copyMs ?? (() => 200) });

  for (const {
    name,
    sizeBytes = 0n,
    extentSizeBytes = 4n << 20n,
    volumes = [],
    devices,
  } of options.volumeGroups ?? quietVolumeGroups) {
    const device = { path: `/dev/sandbox/${name}`, sizeBytes: sizeBytes + (1n << 20n) };
    groups.addGroup(name, extentSizeBytes, devices ?? [device]);
    for (const volume of volumes) {
      addVolume(name, volume);
    }
  }

  for (const spare of options.spares ?? []) {
    groups.devices.addDevice(spare);
  }

  function addVolume(volumeGroupName: string, volume: SandboxVolume): void {
    const { name, sizeBytes, tags = [], open = false, snapshotOf, thinPool = false } = volume;
    const at = { volumeGroupName, name, tags };
    applySandboxStep(
      groups,
      snapshotOf === undefined
        ? { kind: "create", ...at, sizeBytes }
        : { kind: "snapshot", ...at, originName: snapshotOf, roomBytes: sizeBytes },
    );
    const created = groups.find(volumeGroupName, name);
    if (created !== undefined) {
      const pool = {
        kind: "thinPool",
        dataPercent: 0,
        metadataPercent: 10,
        metadataSizeBytes: 4n << 20n,
      } as const;
      groups.alter(created, { open, ...(thinPool ? pool : {}) });
    }
  }

  /** Waits for the duration of a move, which the signal may end. */
  async function pass({ signal, onPercent }: LvmDeviceStepOptions): Promise<void> {
    for (let round = 1; round <= moveRounds; round += 1) {
      await clock.sleep((options.moveMs ?? 0) / moveRounds, signal);
      onPercent?.((100 * round) / moveRounds);
    }
  }

  function isOccupied({ volumeGroupName }: LvmDeviceStep, path: string): boolean {
    return groups.devices
      .physicalVolumes()
      .some((one) => one.volumeGroupName === volumeGroupName && one.path === path && one.usedBytes > 0n);
  }

  return {
    kind: "sandbox",
    read: cache.read,
    readRecent: cache.readRecent,
    refresh: cache.refresh,
    subscribe: cache.subscribe,
    commandOf: (step) => anyCommandOf({}, step),
    run: (step) =>
      limiter.run(async () => {
        await nextTurn();
        try {
          faults.assertWorks(step);
          applySandboxStep(groups, step);
        } finally {
          cache.invalidate();
        }
      }),
    devices: async (paths) => paths.map(groups.devices.facts),
    async runOnDevices(step, stepOptions = {}) {
      if (step.kind === "moveAway" && isOccupied(step, step.path)) {
        await pass(stepOptions);
      }
      await limiter.run(async () => {
        await nextTurn();
        try {
          applySandboxDeviceStep(groups, step);
        } finally {
          cache.invalidate();
        }
      });
    },
    data,
    version: async () => "sandbox",
    inspect: async () => ({
      version: "sandbox",
      findings: [{ ok: true, what: "volumes exist only in memory and disappear with the gateway" }],
    }),
    async close() {
      cache.close();
      data.close();
      await limiter.idle();
    },
  };
}
