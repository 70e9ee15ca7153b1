import type { LogicalVolume } from "../../../gen/proto/lvmd_pb.ts";

/** The numbers of a volume's block device; none has 0:0. */
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

/** Tags as people write them into one line. */
export function parseTags(text: string): string[] {
  return text.split(/[\s,]+/).filter((tag) => tag !== "");
}
