// The parts of Podman's own output that tests compare with.

export interface InspectedContainer {
  readonly Id: string;
  readonly Name: string;
  readonly Created: string;
  readonly Image: string;
  readonly ImageName: string;
  readonly State: {
    readonly Status: string;
    readonly Pid: number;
    readonly ExitCode: number;
    readonly StartedAt: string;
    readonly CgroupPath: string;
  };
  readonly Config: { readonly Annotations?: Readonly<Record<string, string>> | null };
  readonly NetworkSettings: {
    readonly Networks?: Readonly<
      Record<string, { readonly IPAddress: string; readonly GlobalIPv6Address: string }>
    > | null;
  };
}

export interface InspectedPod {
  readonly Id: string;
  readonly Name: string;
  readonly Created: string;
  readonly InfraContainerID?: string;
  readonly CgroupPath?: string;
  readonly Labels?: Readonly<Record<string, string>> | null;
  /** The whole document as printed. */
  readonly document: { SharedNamespaces?: string[] };
  readonly containers: readonly InspectedContainer[];
}

export interface InspectedImage {
  readonly Id: string;
  readonly RepoTags: readonly string[];
  readonly Created: string;
  readonly ManifestType: string;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly Annotations?: Readonly<Record<string, string>> | null;
}

/** Returns nanoseconds since 1970 for a time such as `2026-11-21T19:03:26.702426259Z`; 0 for the year 1, which means none. */
export function nsFrom(text: string): bigint {
  if (text.startsWith("0001-")) {
    return 0n;
  }
  const [, seconds = "", fraction = "", zone = ""] = /^([^.Z+]+)(?:\.(\d+))?(.*)$/.exec(text) ?? [];
  return BigInt(Date.parse(seconds + zone)) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}

/** Returns the UUID made of the first 32 digits of an id. */
export function uuidOf(id: string): string {
  return [id.slice(0, 8), id.slice(8, 12), id.slice(12, 16), id.slice(16, 20), id.slice(20, 32)].join("-");
}

export function keyValuesOf(words: Readonly<Record<string, string>> | null | undefined) {
  return Object.entries(words ?? {})
    .map(([Key, value]) => ({ Key, value }))
    .sort((a, b) => (a.Key < b.Key ? -1 : 1));
}
