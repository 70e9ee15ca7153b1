import type { LogicalVolume, LvmStep } from "../adapter.ts";
import { assertTag } from "../names.ts";
import { lvmReasons } from "../reasons.ts";
import { type SandboxGroups, sandboxFailure } from "./sandbox-groups.ts";

/** A step of one kind. */
export type StepOf<Kind extends LvmStep["kind"]> = Extract<LvmStep, { kind: Kind }>;

/** @throws InfraError VOLUME_EXISTS */
export function assertNameFree(groups: SandboxGroups, step: LvmStep, name: string): void {
  if (groups.find(step.volumeGroupName, name) !== undefined) {
    const words = `Logical Volume "${name}" already exists in volume group "${step.volumeGroupName}"`;
    throw sandboxFailure(lvmReasons.VOLUME_EXISTS, step, words);
  }
}

/** @throws InfraError INVALID_FIELD */
export function assertTags(tags: readonly string[]): void {
  for (const [index, tag] of tags.entries()) {
    assertTag(tag, `tags[${index}]`);
  }
}

/** Names a volume as LVM's messages do. */
export function pathOf({ volumeGroupName, name }: Pick<LogicalVolume, "volumeGroupName" | "name">): string {
  return `${volumeGroupName}/${name}`;
}

/** Rounds a size up to a multiple of an extent, or of several. */
export function roundUp(sizeBytes: bigint, extentSizeBytes: bigint): bigint {
  return ((sizeBytes + extentSizeBytes - 1n) / extentSizeBytes) * extentSizeBytes;
}
