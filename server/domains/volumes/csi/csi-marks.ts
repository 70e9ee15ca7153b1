import { createHash } from "node:crypto";
import type { LogicalVolume } from "../../../../adapters/lvm/adapter.ts";
import { reservedTagStart } from "../../../lvm/operation-marks.ts";

/** What a logical volume is in CSI. */
export type CsiKind = "volume" | "snapshot";

/** The volume or snapshot that a volume was created from. */
export interface CsiSource {
  readonly kind: CsiKind;
  readonly id: string;
}

/**
 * What the tags of a logical volume say about its creation through CSI. They are on the disk, and so survive the gateway, its store
 * and a move of the disks to another host.
 */
export interface CsiMarks {
  readonly kind: CsiKind;
  /** Digest of the name in CSI, which may be longer than LVM allows. */
  readonly nameDigest: string;
  /** The size with which it was created. */
  readonly sizeBytes: bigint;
  readonly source: CsiSource | undefined;
  /** Milliseconds since the epoch; undefined for a volume. */
  readonly createdAtMs: number | undefined;
}

const start = `${reservedTagStart}csi-`;

/** Returns the digest of a name, by which a repeated request finds its volume. */
export function nameDigestOf(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 32);
}

/** Returns the tags of a new volume or snapshot. */
export function csiTags({ kind, nameDigest, sizeBytes, source }: Omit<CsiMarks, "createdAtMs">): string[] {
  return [
    `${start}${kind}=${nameDigest}`,
    `${start}size=${sizeBytes}`,
    ...(source === undefined ? [] : [`${start}source-${source.kind}=${source.id}`]),
  ];
}

/** Returns the tag with the time of a snapshot. */
export function createdTag(createdAtMs: number): string {
  return `${start}created=${createdAtMs}`;
}

/** Returns what the tags say; undefined for a volume that was not created through CSI. */
export function csiMarksOf({ tags }: Pick<LogicalVolume, "tags">): CsiMarks | undefined {
  const markOf = (name: string) => {
    const prefix = `${start}${name}=`;
    return tags.find((tag) => tag.startsWith(prefix))?.slice(prefix.length);
  };
  const [volume, snapshot, size, created] = ["volume", "snapshot", "size", "created"].map(markOf);
  const nameDigest = volume ?? snapshot;
  if (nameDigest === undefined || size === undefined || !/^\d{1,20}$/.test(size)) {
    return undefined;
  }
  const [ofVolume, ofSnapshot] = ["source-volume", "source-snapshot"].map(markOf);
  return {
    kind: volume === undefined ? "snapshot" : "volume",
    nameDigest,
    sizeBytes: BigInt(size),
    source:
      ofVolume !== undefined
        ? { kind: "volume", id: ofVolume }
        : ofSnapshot !== undefined
          ? { kind: "snapshot", id: ofSnapshot }
          : undefined,
    createdAtMs: created === undefined || !/^\d{1,15}$/.test(created) ? undefined : Number(created),
  };
}
