import type { LogicalVolumeHealth, LogicalVolumeKind } from "./adapter.ts";

/** What `lv_attr` tells about a volume. */
export interface LogicalVolumeAttributes {
  readonly kind: LogicalVolumeKind;
  readonly health: LogicalVolumeHealth;
  readonly active: boolean;
  readonly readOnly: boolean;
  readonly open: boolean;
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

// An origin of a snapshot is an `o` (`O` while merging) whatever it is made of: its target type tells that.
const originKinds: Readonly<Record<string, LogicalVolumeKind>> = {
  C: "cache",
  m: "mirror",
  r: "raid",
  t: "thinVolume",
};

// Fifth character. `X` is what LVM shows while it may not ask the kernel.
const stateHealth: Readonly<Record<string, LogicalVolumeHealth>> = {
  s: "suspended",
  C: "suspended",
  I: "invalidSnapshot",
  S: "invalidSnapshot",
  m: "failed",
  M: "failed",
  c: "metadataReadOnly",
};

// Ninth character. `w`, `s` and `R` are a raid volume that writes mostly elsewhere or is reshaped: it is well.
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
 * Decodes the `lv_attr` string of lvs(8), e.g. `-wi-ao----`. Characters that newer versions add are
 * `other` as a kind and `unknown` as a health.
 * @returns undefined if it has fewer than the nine characters that are read
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
    // `R`: read-only to the kernel, though the metadata would allow writing.
    readOnly: at(1) === "r" || at(1) === "R",
    open: at(5) === "o",
  };
}
