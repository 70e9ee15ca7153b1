import { setImmediate as nextTurn } from "node:timers/promises";
import { InfraError, invalidField } from "../host/infra-error.ts";
import { createLimiter } from "../host/limiter.ts";
import type { ReasonName } from "../host/reasons.ts";
import { createSnapshotCache } from "../host/snapshot.ts";
import type { LogicalVolume, LvmAdapter, LvmState, LvmStep, VolumeGroup } from "./adapter.ts";
import { commandOf } from "./commands.ts";
import { assertTag, assertVolumeName, volumeResource } from "./names.ts";

export interface SandboxVolume {
  readonly name: string;
  readonly sizeBytes: bigint;
  readonly tags?: readonly string[];
  readonly thinPool?: boolean;
  /** The volume it is a snapshot of, which must be listed before it. */
  readonly snapshotOf?: string;
  /** As if it were mounted: it can then not be deactivated. */
  readonly open?: boolean;
}

export interface SandboxVolumeGroup {
  readonly name: string;
  readonly sizeBytes: bigint;
  /** 4 MiB, LVM's own default, unless told. */
  readonly extentSizeBytes?: bigint;
  readonly volumes?: readonly SandboxVolume[];
}

export interface LvmSandboxOptions {
  readonly volumeGroups?: readonly SandboxVolumeGroup[];
}

const gibibyte = 1n << 30n;

/** What a sandbox starts with unless told: something to look at, and 9 GiB to try things with. */
const defaultVolumeGroups: readonly SandboxVolumeGroup[] = [
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
 * LVM in memory: the same rules, errors and rounding as the real one, with volumes that hold no data. Nothing
 * of it is random, and nothing on the host is touched.
 */
export function createLvmSandbox(options: LvmSandboxOptions = {}): LvmAdapter {
  let state: LvmState = { volumeGroups: [], volumes: [] };
  let volumesMade = 0;
  let devicesMade = 0;
  // One at a time, as LVM does within a group.
  const limiter = createLimiter({ what: "lvm commands", maxRunning: 1, maxWaiting: 256 });
  const cache = createSnapshotCache({ system: "lvm", load: async () => state });

  for (const { name, sizeBytes, extentSizeBytes = 4n << 20n, volumes = [] } of options.volumeGroups ??
    defaultVolumeGroups) {
    const wholeExtents = (sizeBytes / extentSizeBytes) * extentSizeBytes;
    const uuid = `sandbox-group-${state.volumeGroups.length + 1}`;
    const group = {
      name,
      uuid,
      sizeBytes: wholeExtents,
      freeBytes: wholeExtents,
      extentSizeBytes,
      missingPvCount: 0,
    };
    state = { ...state, volumeGroups: [...state.volumeGroups, group] };
    for (const volume of volumes) {
      addVolume(name, volume);
    }
  }

  function addVolume(volumeGroupName: string, volume: SandboxVolume): void {
    const { name, sizeBytes, tags = [], open = false, snapshotOf, thinPool = false } = volume;
    create({ kind: "create", volumeGroupName, name, sizeBytes, tags });
    update(volumeGroupName, name, {
      open,
      ...(thinPool ? { kind: "thinPool", dataPercent: 0, metadataPercent: 10 } : {}),
      ...(snapshotOf === undefined ? {} : { kind: "snapshot", originName: snapshotOf, dataPercent: 0 }),
    });
  }

  function apply(step: LvmStep): void {
    switch (step.kind) {
      case "create":
        create(step);
        break;
      case "resize":
        resize(volumeOf(step), step.sizeBytes);
        break;
      case "activate":
        setActive(volumeOf(step), true);
        break;
      case "deactivate":
        setActive(volumeOf(step), false);
        break;
      case "remove":
        remove(volumeOf(step));
        break;
    }
  }

  function create(step: Extract<LvmStep, { kind: "create" }>): void {
    const { volumeGroupName, name, tags, thinPoolName } = step;
    assertVolumeName(name, "name", volumeGroupName);
    for (const [index, tag] of tags.entries()) {
      assertTag(tag, `tags[${index}]`);
    }
    if (step.sizeBytes <= 0n) {
      throw invalidField("size_gb", "must not be zero");
    }
    const group = groupOf(step);
    if (state.volumes.some((one) => one.volumeGroupName === volumeGroupName && one.name === name)) {
      const words = `Logical Volume "${name}" already exists in volume group "${volumeGroupName}"`;
      throw failure("VOLUME_EXISTS", step, words);
    }
    if (thinPoolName !== undefined) {
      const pool = state.volumes.find(
        (one) => one.volumeGroupName === volumeGroupName && one.name === thinPoolName,
      );
      if (pool?.kind !== "thinPool") {
        throw failure(
          "VOLUME_GROUP_GONE",
          step,
          `Pool ${thinPoolName} not found in Volume group ${volumeGroupName}.`,
        );
      }
    }
    const sizeBytes = roundUp(step.sizeBytes, group.extentSizeBytes);
    if (thinPoolName === undefined) {
      take(group, sizeBytes, step);
    }
    volumesMade += 1;
    const volume: LogicalVolume = {
      name,
      uuid: `sandbox-volume-${volumesMade}`,
      volumeGroupName,
      kind: thinPoolName === undefined ? "linear" : "thinVolume",
      health: "ok",
      sizeBytes,
      tags: [...new Set(tags)].sort(),
      device: { major: 253, minor: devicesMade++ },
      active: true,
      open: false,
      thinPoolName,
      originName: undefined,
      dataPercent: thinPoolName === undefined ? undefined : 0,
      metadataPercent: undefined,
    };
    state = { ...state, volumes: [...state.volumes, volume] };
  }

  function resize(volume: LogicalVolume, wantedBytes: bigint): void {
    const group = groupOf(volume);
    const sizeBytes = roundUp(wantedBytes, group.extentSizeBytes);
    // LVM refuses a size the volume has; to the caller that is what was asked.
    if (sizeBytes === volume.sizeBytes) {
      return;
    }
    if (sizeBytes < volume.sizeBytes) {
      const extents = (bytes: bigint) => `${bytes / group.extentSizeBytes} extents`;
      const words = `New size given (${extents(sizeBytes)}) not larger than existing size (${extents(volume.sizeBytes)})`;
      throw failure("SHRINK_NOT_ALLOWED", volume, words);
    }
    if (volume.thinPoolName === undefined) {
      take(group, sizeBytes - volume.sizeBytes, volume);
    }
    update(volume.volumeGroupName, volume.name, { sizeBytes });
  }

  function setActive(volume: LogicalVolume, active: boolean): void {
    if (volume.open && !active) {
      throw failure("VOLUME_IN_USE", volume, `Logical volume ${pathOf(volume)} in use.`);
    }
    const device = volume.device ?? { major: 253, minor: devicesMade++ };
    update(volume.volumeGroupName, volume.name, { active, device: active ? device : undefined });
  }

  function remove(volume: LogicalVolume): void {
    const hasSnapshots = state.volumes.some(
      (one) => one.volumeGroupName === volume.volumeGroupName && one.originName === volume.name,
    );
    if (hasSnapshots || volume.kind === "thinPool") {
      const words = `${pathOf(volume)} has snapshots or is a thin pool: LVM left it alone`;
      throw failure("VOLUME_PROTECTED", volume, words);
    }
    if (volume.open) {
      throw failure("VOLUME_IN_USE", volume, `Logical volume ${pathOf(volume)} in use.`);
    }
    if (volume.thinPoolName === undefined) {
      take(groupOf(volume), -volume.sizeBytes, volume);
    }
    state = { ...state, volumes: state.volumes.filter((one) => one !== volume) };
  }

  function groupOf(at: VolumeAddress): VolumeGroup {
    const group = state.volumeGroups.find(({ name }) => name === at.volumeGroupName);
    if (group !== undefined) {
      return group;
    }
    throw failure("VOLUME_GROUP_GONE", at, `Volume group "${at.volumeGroupName}" not found`);
  }

  function volumeOf(at: VolumeAddress): LogicalVolume {
    groupOf(at);
    const volume = state.volumes.find(
      ({ name, volumeGroupName }) => name === at.name && volumeGroupName === at.volumeGroupName,
    );
    if (volume !== undefined) {
      return volume;
    }
    throw failure("VOLUME_NOT_FOUND", at, `Failed to find logical volume "${pathOf(at)}"`);
  }

  /** Takes bytes from the group's free space, or gives back a negative amount. */
  function take(group: VolumeGroup, sizeBytes: bigint, at: VolumeAddress): void {
    if (sizeBytes > group.freeBytes) {
      const free = group.freeBytes / group.extentSizeBytes;
      const needed = sizeBytes / group.extentSizeBytes;
      const words = `Volume group "${group.name}" has insufficient free space (${free} extents): ${needed} required.`;
      throw failure("NO_SPACE", at, words);
    }
    const volumeGroups = state.volumeGroups.map((one) =>
      one === group ? { ...one, freeBytes: one.freeBytes - sizeBytes } : one,
    );
    state = { ...state, volumeGroups };
  }

  function update(volumeGroupName: string, name: string, change: Partial<LogicalVolume>): void {
    const volumes = state.volumes.map((one) =>
      one.name === name && one.volumeGroupName === volumeGroupName ? { ...one, ...change } : one,
    );
    state = { ...state, volumes };
  }

  return {
    kind: "sandbox",
    read: cache.read,
    refresh(signal) {
      cache.invalidate();
      return cache.read(signal);
    },
    subscribe: cache.subscribe,
    commandOf: (step) => commandOf({}, step),
    run: (step) =>
      limiter.run(async () => {
        await nextTurn();
        try {
          apply(step);
        } finally {
          cache.invalidate();
        }
      }),
    inspect: async () => ({
      version: "sandbox",
      findings: [{ ok: true, what: "volumes are kept in memory and vanish with the gateway" }],
    }),
    async close() {
      cache.close();
      await limiter.idle();
    },
  };
}

interface VolumeAddress {
  readonly volumeGroupName: string;
  readonly name: string;
}

function pathOf({ volumeGroupName, name }: VolumeAddress): string {
  return `${volumeGroupName}/${name}`;
}

function failure(reason: ReasonName, at: VolumeAddress, words: string): InfraError {
  return new InfraError(reason, words, { resource: volumeResource(at.volumeGroupName, at.name) });
}

function roundUp(sizeBytes: bigint, extentSizeBytes: bigint): bigint {
  return ((sizeBytes + extentSizeBytes - 1n) / extentSizeBytes) * extentSizeBytes;
}
