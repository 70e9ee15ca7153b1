import { hostReasons } from "../../host/reasons.ts";
import type { LvmStep } from "../adapter.ts";
import { obstacleTo } from "../errors.ts";
import { assertPoolName } from "../names.ts";
import { lvmReasons } from "../reasons.ts";
import { assertNameFree, assertTags, pathOf, roundUp, type StepOf } from "./sandbox-checks.ts";
import { type SandboxGroups, type SandboxVolume, sandboxFailure } from "./sandbox-groups.ts";

/** LVM creates no smaller metadata space. */
const leastMetadataBytes = 4n << 20n;

/** Name of the hidden volume with which LVM repairs metadata. It is removed with the last pool of its group. */
const spareName = "lvol0_pmspare";

/** Creates a thin pool, and the spare of its group. @throws InfraError as LVM would refuse the step */
export function createSandboxPool(groups: SandboxGroups, step: StepOf<"createThinPool">): void {
  const { volumeGroupName, name, tags } = step;
  assertPoolName(volumeGroupName, name, "name");
  assertTags(tags);
  const { extentSizeBytes } = groups.groupOf(step);
  assertNameFree(groups, step, name);
  const sizeBytes = roundUp(step.sizeBytes, extentSizeBytes);
  const metadataSizeBytes = roundUp(step.metadataSizeBytes ?? leastMetadataBytes, extentSizeBytes);
  const facts = { kind: "thinPool", dataPercent: 0, metadataPercent: 10, metadataSizeBytes } as const;
  const ownBytes = sizeBytes + metadataSizeBytes;
  const spareBytes = spareGrowth(groups, volumeGroupName, metadataSizeBytes);
  assertRoom(groups, step, ownBytes + spareBytes);
  groups.add(step, { volumeGroupName, name, sizeBytes, tags, ...facts }, ownBytes);
  growSpare(groups, step, spareBytes);
}

/** Grows the metadata space of a pool, and the spare of its group. @throws InfraError as LVM would refuse the step */
export function resizeSandboxMetadata(groups: SandboxGroups, step: StepOf<"resizeMetadata">): void {
  const { extentSizeBytes } = groups.groupOf(step);
  const pool = groups.volumeOf(step);
  const { metadataSizeBytes = 0n, metadataPercent = 0 } = pool;
  if (pool.kind !== "thinPool") {
    const words = `Command not permitted on LV ${pathOf(pool)}.`;
    throw sandboxFailure(hostReasons.TOOL_FAILED, step, words);
  }
  const sizeBytes = roundUp(step.sizeBytes, extentSizeBytes);
  const extents = (bytes: bigint) => `${bytes / extentSizeBytes} extents`;
  if (sizeBytes < metadataSizeBytes) {
    const words = `New size given (${extents(sizeBytes)}) not larger than existing size (${extents(metadataSizeBytes)})`;
    throw sandboxFailure(lvmReasons.SHRINK_NOT_ALLOWED, step, words);
  }
  if (sizeBytes > metadataSizeBytes) {
    const grownBytes = sizeBytes - metadataSizeBytes;
    const spareBytes = spareGrowth(groups, step.volumeGroupName, sizeBytes);
    assertRoom(groups, step, grownBytes + spareBytes);
    groups.take(step, pool, grownBytes);
    growSpare(groups, step, spareBytes);
    const percent = (metadataPercent * Number(metadataSizeBytes)) / Number(sizeBytes);
    groups.alter(pool, { metadataSizeBytes: sizeBytes, metadataPercent: percent });
  }
}

/** Removes an empty pool, and the spare of its group with the last pool. @throws InfraError as LVM would refuse the step */
export function removeSandboxPool(groups: SandboxGroups, step: LvmStep): void {
  const pool = groups.volumeOf(step);
  const ofGroup = groups.state().volumes.filter((one) => one.volumeGroupName === pool.volumeGroupName);
  if (pool.kind !== "thinPool" || ofGroup.some(({ thinPoolName }) => thinPoolName === pool.name)) {
    const words = `${pathOf(pool)} ${obstacleTo(step)}, so LVM did not remove it`;
    throw sandboxFailure(lvmReasons.VOLUME_PROTECTED, step, words);
  }
  groups.remove(pool);
  const spare = spareOf(groups, pool.volumeGroupName);
  if (spare !== undefined && ofGroup.filter(({ kind }) => kind === "thinPool").length === 1) {
    groups.remove(spare);
  }
}

function spareOf(groups: SandboxGroups, volumeGroupName: string): SandboxVolume | undefined {
  return groups.find(volumeGroupName, spareName);
}

/** Returns how much the spare of a group grows, which is as large as the largest metadata space of a pool so far. */
function spareGrowth(groups: SandboxGroups, volumeGroupName: string, metadataSizeBytes: bigint): bigint {
  const sizes = groups
    .state()
    .volumes.filter((one) => one.volumeGroupName === volumeGroupName)
    .map((one) => one.metadataSizeBytes ?? 0n);
  const present = [...sizes, spareOf(groups, volumeGroupName)?.sizeBytes ?? 0n];
  const largest = present.reduce((most, size) => (size > most ? size : most), 0n);
  return metadataSizeBytes > largest ? metadataSizeBytes - largest : 0n;
}

function growSpare(groups: SandboxGroups, step: LvmStep, bytes: bigint): void {
  const { volumeGroupName } = step;
  const spare = spareOf(groups, volumeGroupName);
  if (spare !== undefined) {
    groups.grow(step, spare, spare.sizeBytes + bytes);
  } else if (bytes > 0n) {
    const added = { volumeGroupName, name: spareName, kind: "other", sizeBytes: bytes, tags: [] } as const;
    groups.add(step, { ...added, active: false }, bytes);
    groups.hide(groups.volumeOf({ ...step, name: spareName }));
  }
}

/** @throws InfraError NO_SPACE */
function assertRoom(groups: SandboxGroups, step: LvmStep, neededBytes: bigint): void {
  const { name, freeBytes, extentSizeBytes } = groups.groupOf(step);
  if (freeBytes < neededBytes) {
    const [free, needed] = [freeBytes, neededBytes].map((bytes) => bytes / extentSizeBytes);
    const words = `Volume group "${name}" has insufficient free space (${free} extents): ${needed} required.`;
    throw sandboxFailure(hostReasons.NO_SPACE, step, words);
  }
}
