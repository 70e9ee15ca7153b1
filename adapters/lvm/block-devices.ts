import { readFile } from "node:fs/promises";
import { type KernelEvents, openKernelEvents } from "./kernel-events.ts";
import type { DirectoryWatch } from "./watch.ts";

export interface BlockDeviceWatchOptions {
  /** Called when a device has come, gone or changed its size, and once more some seconds later. */
  readonly onChange: () => void;
  /** The kernel's list of devices; `/proc/partitions` when absent. */
  readonly path?: string;
  /** The kernel's device events; those of this machine when absent. @throws Error where there are none */
  readonly openEvents?: () => KernelEvents;
  /** How often both are read. */
  readonly pollMs?: number;
  /** After which time a change is reported again. */
  readonly againMs?: number;
}

/**
 * Watches the block devices that the kernel knows: once a second its queue of device events is emptied and its list of devices
 * read. Neither needs udev or a privilege. The list also shows the host's devices in a container that gets no events; the events
 * also show a device that was replaced by one of the same name and size between two reads. Device-mapper's own are left out;
 * they change with every activation.
 *
 * The kernel knows a device before udev has made its node, and LVM finds nothing until then: hence the second report.
 */
export function watchBlockDevices(options: BlockDeviceWatchOptions): DirectoryWatch {
  const { onChange, path = "/proc/partitions", pollMs = 1_000, againMs = 3_000 } = options;
  const events = openOrNone(options.openEvents ?? openKernelEvents);
  let known: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let againTimer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function poll(): Promise<void> {
    // Absent where there is no proc(5); devices are then noticed by LVM's own files only.
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

/** The lines of `/proc/partitions` (` 253  0  8388608 dm-0`) without those of device-mapper. */
function parseDevices(text: string): string {
  return text
    .split("\n")
    .filter((line) => !/\sdm-\d+$/.test(line))
    .join("\n");
}
