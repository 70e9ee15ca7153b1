import type { LogicalVolumeHealth, LogicalVolumeKind } from "../adapter.ts";

/** Properties of a volume that `lv_attr` encodes. */
export interface LogicalVolumeAttributes {
  readonly kind: LogicalVolumeKind;
  readonly health: LogicalVolumeHealth;
  readonly active: boolean;
  readonly readOnly: boolean;
  readonly open: boolean;
  readonly merging: boolean;
}

const kinds: Readonly<Record<string, LogicalVolumeKind>> = {
  "-": "linear",
  C: "cache",
  m: "mirror",
  M: "mirror",
  r: "raid",
  R: "raid",
  s: "snapshot",
  S: "snapshot",
  t: "thinPool",
  V: "thinVolume",
};

// The first character is `o` (`O` while merging) for every snapshot origin; its kind follows from the seventh, the
// target type.
const originKinds: Readonly<Record<string, LogicalVolumeKind>> = {
  C: "cache",
  m: "mirror",
  r: "raid",
  t: "thinVolume",
};

// Fifth character. LVM shows `X` when it may not query the kernel.
const stateHealth: Readonly<Record<string, LogicalVolumeHealth>> = {
  s: "suspended",
  C: "suspended",
  I: "invalidSnapshot",
  S: "invalidSnapshot",
  m: "failed",
  M: "failed",
  c: "metadataReadOnly",
};

// Ninth character. `w`, `s` and `R` mark a raid volume that is writemostly or being reshaped, which is healthy.
const volumeHealth: Readonly<Record<string, LogicalVolumeHealth>> = {
  "-": "ok",
  w: "ok",
  s: "ok",
  R: "ok",
  p: "partial",
  r: "refreshNeeded",
  m: "mismatchesExist",
  F: "failed",
  E: "failed",
  D: "outOfDataSpace",
  M: "metadataReadOnly",
};

/**
 * Decodes the `lv_attr` string of lvs(8), e.g. `-wi-ao----`. Characters added by newer versions become the kind `other`
 * and the health `unknown`.
 * @returns undefined if there are fewer than nine characters
 */
export function parseAttributes(attributes: string): LogicalVolumeAttributes | undefined {
  if (attributes.length < 9) {
    return undefined;
  }
  const at = (index: number): string => attributes.charAt(index);
  const isOrigin = at(0) === "o" || at(0) === "O";
  return {
    kind: isOrigin ? (originKinds[at(6)] ?? "linear") : (kinds[at(0)] ?? "other"),
    health: stateHealth[at(4)] ?? volumeHealth[at(8)] ?? "unknown",
    active: /[asIScCmM]/.test(at(4)),
    // `R`: read-only in the kernel, though the metadata would allow writing.
    readOnly: at(1) === "r" || at(1) === "R",
    open: at(5) === "o",
    merging: at(0) === "O",
  };
}
