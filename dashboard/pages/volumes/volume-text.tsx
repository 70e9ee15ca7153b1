import type { LogicalVolume } from "../../../gen/proto/lvmd_pb.ts";

/** Major and minor number of a volume's block device; 0:0 means none. */
export function DeviceText({ volume: { devMajor, devMinor } }: { readonly volume: LogicalVolume }) {
  return devMajor === 0 && devMinor === 0 ? (
    <span class="quiet">none: not active</span>
  ) : (
    <code>
      {devMajor}:{devMinor}
    </code>
  );
}

/** The tags of a volume. */
export function Tags({ of }: { readonly of: readonly string[] }) {
  return of.length === 0 ? <span class="quiet">none</span> : <code>{of.join(" ")}</code>;
}

/** Parses tags that were typed into one line. */
export function parseTags(text: string): string[] {
  return text.split(/[\s,]+/).filter((tag) => tag !== "");
}
