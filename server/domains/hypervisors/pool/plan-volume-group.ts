import { describeSize } from "../../../../adapters/host/describe-size.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LvmAdapter, VolumeGroup } from "../../../../adapters/lvm/adapter.ts";
import type { LvmDeviceStep } from "../../../../adapters/lvm/device-adapter.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import { hypervisorReasons } from "../reasons.ts";
import { type Candidate, chooseGrowth, chooseShrinkage } from "./choose-devices.ts";
import type { PlannedPoolChange } from "./storage-pool.ts";
import { devicesOf, type GroupRead, givenBytes, groupNamed, poolStateFrom } from "./volume-group-state.ts";

/** Input of a plan. */
export interface GroupFacts extends GroupRead {
  readonly commandOf: LvmAdapter["commandOf"];
}

/** @throws InfraError POOL_CANNOT_GROW, VOLUME_GROUP_GONE */
export function planGroupGrowth(facts: GroupFacts, minBytes: bigint): PlannedPoolChange {
  const { state, name, commandOf } = facts;
  const group = groupNamed(state, name);
  const { spares } = poolStateFrom(facts);
  const usable = spares.filter(({ unusable }) => unusable === "");
  const given = usable.map(({ sizeBytes }) => givenBytes(sizeBytes, group));
  const candidates = given.map((bytes) => ({ extents: extentsOf(bytes, group), usedExtents: 0 }));
  const chosen = chooseGrowth(candidates, extentsOf(minBytes + group.extentSizeBytes - 1n, group));
  if (group.missingPvCount > 0 || chosen === undefined) {
    const others = spares.filter(({ unusable }) => unusable !== "");
    const why = others.map(({ path, unusable }) => `${path}: ${unusable}`).join("; ");
    const words =
      group.missingPvCount > 0
        ? `the volume group ${name} lacks ${group.missingPvCount} of its devices; LVM adds no devices until they are back`
        : `the spare devices of ${name} provide ${describeSize(total(given))}, but at least ${describeSize(minBytes)} is requested${why === "" ? "" : `. Not usable: ${why}`}`;
    throw new InfraError(hypervisorReasons.POOL_CANNOT_GROW, words, { resource: "storagePool" });
  }
  const paths = chosen.flatMap((index) => usable[index]?.path ?? []);
  return {
    identity: group.uuid,
    devices: paths,
    bytes: total(chosen.map((index) => given[index] ?? 0n)),
    movedBytes: 0n,
    steps: [{ name: "add", command: commandOf({ kind: "addDevices", volumeGroupName: name, paths }) }],
  };
}

/**
 * @param canMove whether data can be moved at all
 * @throws InfraError POOL_CANNOT_SHRINK, VOLUME_GROUP_GONE
 */
export function planGroupShrinkage(facts: GroupFacts, maxBytes: bigint, canMove: boolean): PlannedPoolChange {
  const { state, name } = facts;
  const group = groupNamed(state, name);
  const all = devicesOf(state, name, facts.devices);
  const roomOf = ({ physicalVolume: one }: (typeof all)[number]) =>
    one.allocatable && !one.missing ? extentsOf(one.sizeBytes - one.usedBytes, group) : 0;
  // In the order of the configuration.
  const leaving = facts.devices.flatMap(
    ({ path }) => all.find((one) => one.configuredPath === path && !one.physicalVolume.missing) ?? [],
  );
  const candidates: Candidate[] = leaving.map((one) => ({
    extents: extentsOf(one.physicalVolume.sizeBytes, group),
    usedExtents: extentsOf(one.physicalVolume.usedBytes, group),
    roomExtents: roomOf(one),
  }));
  const staying = all.filter((one) => !leaving.includes(one));
  const chosen =
    group.missingPvCount > 0
      ? []
      : chooseShrinkage(candidates, extentsOf(maxBytes, group), {
          roomExtents: staying.reduce((sum, one) => sum + roomOf(one), 0),
          canMove,
          mustKeepOne: staying.length === 0,
        });
  const going = chosen.flatMap((index) => leaving[index] ?? []);
  if (going.length === 0) {
    const words = whyNothingGoes(group, maxBytes, leaving, canMove);
    throw new InfraError(lvmReasons.POOL_CANNOT_SHRINK, words, { resource: "storagePool" });
  }
  const used = going.filter(({ physicalVolume }) => physicalVolume.usedBytes > 0n);
  const step = (label: string, step: LvmDeviceStep) => ({ name: label, command: facts.commandOf(step) });
  const at = ({ physicalVolume: { path } }: (typeof going)[number]) => ({ volumeGroupName: name, path });
  return {
    identity: group.uuid,
    devices: going.flatMap(({ configuredPath }) => configuredPath ?? []),
    bytes: total(going.map(({ physicalVolume }) => physicalVolume.sizeBytes)),
    movedBytes: total(used.map(({ physicalVolume }) => physicalVolume.usedBytes)),
    steps: [
      ...going.map((one) => step("reserve", { kind: "setAllocatable", ...at(one), allocatable: false })),
      ...used.map((one) => step("move", { kind: "moveAway", ...at(one) })),
      ...going.flatMap((one) => [
        step("remove", { kind: "takeDevice", ...at(one) }),
        step("remove", { kind: "freeDevice", ...at(one) }),
      ]),
    ],
  };
}

function whyNothingGoes(
  { name, sizeBytes, freeBytes, missingPvCount }: VolumeGroup,
  maxBytes: bigint,
  leaving: ReturnType<typeof devicesOf>,
  canMove: boolean,
): string {
  if (missingPvCount > 0) {
    return `the volume group ${name} lacks ${missingPvCount} of its devices; LVM removes no devices until they are back`;
  }
  const devices = leaving.map(
    ({ configuredPath, physicalVolume: one }) =>
      `${configuredPath} has ${describeSize(one.sizeBytes)}, ${describeSize(one.usedBytes)} in use`,
  );
  const moving = canMove ? "" : " Without device-mapper, data cannot be moved between devices.";
  return `no device of ${name} can be removed: at most ${describeSize(maxBytes)} is requested; of ${describeSize(sizeBytes)}, ${describeSize(freeBytes)} is free, and one device must stay. ${devices.length === 0 ? "None of its devices is configured" : devices.join("; ")}.${moving}`;
}

function extentsOf(bytes: bigint, { extentSizeBytes }: VolumeGroup): number {
  return Number(bytes / extentSizeBytes);
}

function total(bytes: readonly bigint[]): bigint {
  return bytes.reduce((sum, each) => sum + each, 0n);
}
