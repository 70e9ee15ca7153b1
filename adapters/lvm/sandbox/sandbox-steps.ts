import { invalidField } from "../../host/infra-error.ts";
import { hostReasons } from "../../host/reasons.ts";
import type { LogicalVolume, LvmStep } from "../adapter.ts";
import { obstacleTo } from "../errors.ts";
import { assertSnapshotNames, assertVolumeName } from "../names.ts";
import { lvmReasons } from "../reasons.ts";
import { snapshotRoomBytes } from "../snapshot-room.ts";
import { assertNameFree, assertTags, pathOf, roundUp, type StepOf } from "./sandbox-checks.ts";
import { type SandboxGroups, type SandboxVolume, sandboxFailure } from "./sandbox-groups.ts";
import { createSandboxPool, removeSandboxPool, resizeSandboxMetadata } from "./sandbox-pools.ts";

/**
 * Changes the groups as LVM would, by its rules and rounding.
 * @throws InfraError as LVM would refuse the step; nothing has changed then
 */
export function applySandboxStep(groups: SandboxGroups, step: LvmStep): void {
  switch (step.kind) {
    case "create":
      create(groups, step);
      break;
    case "createThinPool":
      createSandboxPool(groups, step);
      break;
    case "resizeMetadata":
      resizeSandboxMetadata(groups, step);
      break;
    case "resize":
      resize(groups, step);
      break;
    case "snapshot":
      snapshot(groups, step);
      break;
    case "rename":
      rename(groups, step);
      break;
    case "changeTags":
      changeTags(groups, step);
      break;
    case "merge":
      merge(groups, step);
      break;
    case "resumeMerge":
      groups.volumeOf(step);
      break;
    case "activate":
      setActive(groups, step, true);
      break;
    case "deactivate":
      setActive(groups, step, false);
      break;
    case "remove":
      remove(groups, step);
      break;
    case "removeThinPool":
      removeSandboxPool(groups, step);
      break;
  }
}

function create(groups: SandboxGroups, step: StepOf<"create">): void {
  const { volumeGroupName, name, tags, thinPoolName } = step;
  assertVolumeName(name, "name", volumeGroupName);
  assertTags(tags);
  if (step.sizeBytes <= 0n) {
    throw invalidField("size_gb", "must not be zero");
  }
  const { extentSizeBytes } = groups.groupOf(step);
  assertNameFree(groups, step, name);
  const stripes = stripesOf(step);
  const sizeBytes = roundUp(step.sizeBytes, BigInt(stripes) * extentSizeBytes);
  if (thinPoolName === undefined) {
    groups.add(step, { volumeGroupName, name, kind: "linear", sizeBytes, tags }, sizeBytes, stripes);
    return;
  }
  if (groups.find(volumeGroupName, thinPoolName)?.kind !== "thinPool") {
    const words = `Pool ${thinPoolName} not found in Volume group ${volumeGroupName}.`;
    throw sandboxFailure(lvmReasons.VOLUME_GROUP_GONE, step, words);
  }
  const thin = { kind: "thinVolume", thinPoolName, dataPercent: 0 } as const;
  groups.add(step, { volumeGroupName, name, sizeBytes, tags, ...thin }, 0n);
}

/**
 * Returns the number of devices that a volume is striped over. @throws InfraError TOOL_FAILED for types that need a
 * real LVM
 */
function stripesOf(step: StepOf<"create">): number {
  const { options = [] } = step;
  const wordBehind = (name: string) =>
    options.includes(name) ? options[options.indexOf(name) + 1] : undefined;
  const type = wordBehind("--type") ?? "linear";
  if (!["linear", "striped"].includes(type) || Number(wordBehind("--mirrors") ?? 0) > 0) {
    throw sandboxFailure(hostReasons.TOOL_FAILED, step, "The sandbox makes linear and striped volumes only.");
  }
  return Number(wordBehind("--stripes") ?? 1);
}

function resize(groups: SandboxGroups, step: StepOf<"resize">): void {
  const { extentSizeBytes } = groups.groupOf(step);
  const volume = groups.volumeOf(step);
  const sizeBytes = roundUp(step.sizeBytes, extentSizeBytes);
  // LVM refuses a size that the volume already has; for the caller this is success.
  if (sizeBytes === volume.sizeBytes) {
    return;
  }
  if (sizeBytes < volume.sizeBytes) {
    const extents = (bytes: bigint) => `${bytes / extentSizeBytes} extents`;
    const words = `New size given (${extents(sizeBytes)}) not larger than existing size (${extents(volume.sizeBytes)})`;
    throw sandboxFailure(lvmReasons.SHRINK_NOT_ALLOWED, step, words);
  }
  if (volume.active && groups.snapshotsOf(volume).length > 0) {
    const words = "Snapshot origin volumes can be resized only while inactive: try lvchange -an.";
    throw sandboxFailure(lvmReasons.VOLUME_PROTECTED, step, words);
  }
  groups.grow(step, volume, sizeBytes);
}

function snapshot(groups: SandboxGroups, step: StepOf<"snapshot">): void {
  const { volumeGroupName, name, originName, tags, roomBytes, readOnly = false } = step;
  assertVolumeName(name, "name", volumeGroupName);
  assertTags(tags);
  const { extentSizeBytes } = groups.groupOf(step);
  const origin = originOf(groups, step);
  assertNameFree(groups, step, name);
  const { sizeBytes, active } = origin;
  const common = { volumeGroupName, name, originName, sizeBytes, tags, readOnly };
  if (roomBytes !== undefined) {
    assertSnapshotNames(volumeGroupName, name, originName);
    assertOrigin(step, origin);
    // Reducing COW size 132.00 MiB down to maximum usable size 68.00 MiB.
    const mostBytes = snapshotRoomBytes(sizeBytes, 100);
    const takenBytes = roundUp(roomBytes < mostBytes ? roomBytes : mostBytes, extentSizeBytes);
    const facts = { kind: "snapshot", active, dataPercent: 0, roomBytes: takenBytes } as const;
    groups.add(step, { ...common, ...facts }, takenBytes);
    return;
  }
  if (origin.kind !== "thinVolume") {
    throw sandboxFailure(
      hostReasons.TOOL_FAILED,
      step,
      "Please specify either size or extents with snapshots.",
    );
  }
  const { thinPoolName, dataPercent } = origin;
  groups.add(step, { ...common, kind: "thinVolume", thinPoolName, dataPercent }, 0n);
}

function originOf(groups: SandboxGroups, step: StepOf<"snapshot">): SandboxVolume {
  const { volumeGroupName, originName } = step;
  const origin = groups.find(volumeGroupName, originName);
  if (origin === undefined) {
    const words = `Snapshot origin LV ${originName} not found in Volume group ${volumeGroupName}.`;
    throw sandboxFailure(lvmReasons.VOLUME_NOT_FOUND, step, words);
  }
  return origin;
}

function assertOrigin(step: LvmStep, { kind, merging }: Pick<LogicalVolume, "kind" | "merging">): void {
  if (merging) {
    const words = "Snapshots of an origin that has a merging snapshot are not supported.";
    throw sandboxFailure(lvmReasons.VOLUME_PROTECTED, step, words);
  }
  if (kind === "snapshot" || kind === "thinPool") {
    const what = kind === "snapshot" ? "snapshots" : "thin pool type volumes";
    throw sandboxFailure(lvmReasons.VOLUME_PROTECTED, step, `Snapshots of ${what} are not supported.`);
  }
}

function rename(groups: SandboxGroups, step: StepOf<"rename">): void {
  const { volumeGroupName, name, newName } = step;
  assertVolumeName(newName, "name", volumeGroupName);
  if (newName === name) {
    throw invalidField("name", "Old and new logical volume names must differ");
  }
  const volume = groups.volumeOf(step);
  assertNameFree(groups, step, newName);
  groups.rename(volume, newName);
}

function changeTags(groups: SandboxGroups, step: StepOf<"changeTags">): void {
  assertTags([...step.addTags, ...step.removeTags]);
  const volume = groups.volumeOf(step);
  const kept = [...volume.tags, ...step.addTags].filter((tag) => !step.removeTags.includes(tag));
  groups.alter(volume, { tags: [...new Set(kept)].sort() });
}

function setActive(groups: SandboxGroups, step: LvmStep, active: boolean): void {
  const volume = groups.volumeOf(step);
  if (volume.kind === "snapshot") {
    const words = `Change of snapshot ${pathOf(volume)} will also change its origin. Proceed? [y/n]: [n]`;
    throw sandboxFailure(lvmReasons.VOLUME_PROTECTED, step, words);
  }
  const together = [volume, ...groups.snapshotsOf(volume)];
  const open = together.find((one) => one.open);
  if (open !== undefined && !active) {
    throw sandboxFailure(hostReasons.VOLUME_IN_USE, step, `Logical volume ${pathOf(open)} in use.`);
  }
  for (const one of together) {
    groups.setActive(one, active);
  }
  if (active && !volume.active && volume.merging) {
    groups.endMerge(volume);
  }
}

function merge(groups: SandboxGroups, step: StepOf<"merge">): void {
  const snapshot = groups.volumeOf(step);
  const origin = groups.find(snapshot.volumeGroupName, snapshot.originName ?? "");
  if (origin === undefined || (snapshot.kind === "thinVolume") !== step.isThin) {
    throw sandboxFailure(
      hostReasons.TOOL_FAILED,
      step,
      `Logical volume ${pathOf(snapshot)} is not a snapshot.`,
    );
  }
  if (origin.merging) {
    const words = `Cannot merge snapshot ${pathOf(snapshot)} into the origin ${pathOf(origin)} with merging snapshot.`;
    throw sandboxFailure(lvmReasons.VOLUME_PROTECTED, step, words);
  }
  const isLater = origin.open || snapshot.open || !(origin.active || step.isThin);
  groups.alter(origin, { merging: true });
  groups.hide(snapshot);
  if (!isLater) {
    groups.endMerge(origin);
  }
}

function remove(groups: SandboxGroups, step: LvmStep): void {
  const volume = groups.volumeOf(step);
  if (groups.snapshotsOf(volume).length > 0 || volume.kind === "thinPool") {
    const words = `${pathOf(volume)} ${obstacleTo(step)}, so LVM did not remove it`;
    throw sandboxFailure(lvmReasons.VOLUME_PROTECTED, step, words);
  }
  if (volume.open) {
    throw sandboxFailure(hostReasons.VOLUME_IN_USE, step, `Logical volume ${pathOf(volume)} in use.`);
  }
  groups.remove(volume);
}
