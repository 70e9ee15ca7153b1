import { type DeviceNumber, parseDeviceNumber } from "./device-number.ts";

/** A line of mountinfo. */
export interface ListedMount {
  /** The mount point. */
  readonly path: string;
  /** Path of the mounted directory or file in its file system. */
  readonly root: string;
  /** The device of the file system. File systems such as btrfs have a number of their own. */
  readonly device: DeviceNumber;
  readonly fileSystem: string;
  readonly source: string;
  readonly flags: readonly string[];
  readonly fileSystemOptions: readonly string[];
}

/** Parses `/proc/PID/mountinfo` (proc(5)). Skips lines that are not mounts. */
export function parseMountInfo(text: string): ListedMount[] {
  return text.split("\n").flatMap((line) => {
    const fields = line.split(" ");
    // The optional fields before it vary in number.
    const separator = fields.indexOf("-", 6);
    const [, , number, root, path, flags] = fields;
    const [fileSystem, source, options] = fields.slice(separator + 1);
    const device = parseDeviceNumber(number ?? "");
    if (separator === -1 || device === undefined || !root || !path || !fileSystem || options === undefined) {
      return [];
    }
    return [
      {
        path: unescaped(path),
        root: unescaped(root),
        device,
        fileSystem,
        source: unescaped(source ?? ""),
        flags: (flags ?? "").split(","),
        fileSystemOptions: options.split(","),
      },
    ];
  });
}

/** The kernel writes space, tab, newline and backslash as octal numbers. */
function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}
