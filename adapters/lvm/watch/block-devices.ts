import { readFile } from "node:fs/promises";
import { type KernelEvents, openKernelEvents } from "./kernel-events.ts";
import type { DirectoryWatch } from "./watch-directory.ts";

export interface BlockDeviceWatchOptions {
  /** Called when a device was added, removed or resized, and once more some seconds later. */
  readonly onChange: () => void;
  /** The kernel's list of devices; `/proc/partitions` by default. */
  readonly path?: string;
  /** Opens the kernel's device events; those of this machine by default. @throws Error if unavailable */
  readonly openEvents?: () => KernelEvents;
  /** Interval at which both are read. */
  readonly pollMs?: number;
  /** Delay after which a change is reported a second time. */
  readonly againMs?: number;
}

/**
 * Watches the block devices known to the kernel. Once a second, it drains the kernel's device events and reads its list
 * of devices. Neither needs udev or privileges. The list also shows the host's devices in a container that gets no
 * events; the events also reveal a device that was replaced by one of the same name and size between two reads.
 * Device-mapper devices are left out because they change with every activation.
 *
 * The kernel knows a device before udev has created its node, and LVM finds nothing until then: hence the second
 * report.
 */
export function watchBlockDevices(options: BlockDeviceWatchOptions): DirectoryWatch {
  const { onChange, path = "/proc/partitions", pollMs = 1_000, againMs = 3_000 } = options;
  const events = openOrNone(options.openEvents ?? openKernelEvents);
  let known: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let againTimer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function poll(): Promise<void> {
    // Absent without proc(5); new devices are then noticed only through LVM's own files.
    const devices = await readFile(path, "utf8").then(parseDevices, () => undefined);
    if (isClosed) {
      return;
    }
    const hasEvent = events?.drain() === true;
    if (hasEvent || (known !== undefined && devices !== undefined && devices !== known)) {
      clearTimeout(againTimer);
      againTimer = setTimeout(onChange, againMs).unref();
      onChange();
    }
    known = devices ?? known;
    timer = setTimeout(() => void poll(), pollMs).unref();
  }

  return {
    ready: poll(),
    close() {
      isClosed = true;
      events?.close();
      clearTimeout(timer);
      clearTimeout(againTimer);
    },
  };
}

function openOrNone(open: () => KernelEvents): KernelEvents | undefined {
  try {
    return open();
  } catch {
    return undefined;
  }
}

/** Returns the lines of `/proc/partitions` (` 253  0  8388608 dm-0`) without those of device-mapper. */
function parseDevices(text: string): string {
  return text
    .split("\n")
    .filter((line) => !/\sdm-\d+$/.test(line))
    .join("\n");
}
