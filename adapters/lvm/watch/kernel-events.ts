import { closeSync } from "node:fs";
import { createRequire } from "node:module";

/** Kernel device events, queued for this process. */
export interface KernelEvents {
  /** Empties the queue. Returns whether it held a change of a block device, or lost events because it was full. */
  drain(): boolean;
  close(): void;
}

// From <linux/netlink.h>, <sys/socket.h> and <errno.h>: the same numbers on every glibc and musl platform except MIPS.
const netlinkFamily = 16;
const kernelEventsProtocol = 15;
const rawSocket = 3;
const closeOnExec = 0o2000000;
const fromTheKernel = 1;
const doNotWait = 0x40;
const queueFull = 105;
const addressBytes = 12;
const messageBytes = 8 * 1024;

/**
 * Subscribes to the kernel's device events (NETLINK_KOBJECT_UEVENT), which need neither udev nor privileges. The kernel
 * queues them until they are read; reading never blocks. Containers with a user namespace of their own receive none.
 * @throws Error if there is no such socket, or koffi has no binary for this platform
 */
export function openKernelEvents(): KernelEvents {
  if (process.platform !== "linux") {
    throw new Error(`${process.platform} has no netlink`);
  }
  const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
  const library = koffi.load(null);
  const socket = library.func("int socket(int family, int type, int protocol)");
  const bind = library.func("int bind(int fd, void *address, uint32_t length)");
  const receive = library.func("int64_t recv(int fd, void *buffer, size_t length, int flags)");
  const fd: number = socket(netlinkFamily, rawSocket | closeOnExec, kernelEventsProtocol);
  if (fd < 0) {
    throw new Error(`socket: errno ${koffi.errno()}`);
  }
  // struct sockaddr_nl in the machine's byte order; the kernel chooses the port.
  const address = Buffer.alloc(addressBytes);
  new Uint16Array(address.buffer, address.byteOffset, 1)[0] = netlinkFamily;
  new Uint32Array(address.buffer, address.byteOffset + 8, 1)[0] = fromTheKernel;
  if (bind(fd, address, addressBytes) !== 0) {
    closeSync(fd);
    throw new Error(`bind: errno ${koffi.errno()}`);
  }
  const buffer = Buffer.alloc(messageBytes);

  return {
    drain() {
      let hasChanged = false;
      for (;;) {
        const length = Number(receive(fd, buffer, messageBytes, doNotWait));
        if (length > 0) {
          hasChanged ||= isBlockDeviceChange(buffer.toString("latin1", 0, length));
        } else if (length < 0 && koffi.errno() === queueFull) {
          hasChanged = true;
        } else {
          return hasChanged;
        }
      }
    },
    close: () => closeSync(fd),
  };
}

/**
 * Reports whether a message (`change@/devices/virtual/block/loop0`, then NUL-terminated `NAME=value`) is about a block
 * device other than device-mapper's. Synthetic events, written to a device's `uevent` file, do not count: udev writes
 * one whenever a device that was open for writing is closed, hence after each LVM command.
 */
export function isBlockDeviceChange(message: string): boolean {
  const variables = message.split("\0").slice(1);
  return (
    variables.includes("SUBSYSTEM=block") &&
    !variables.some((variable) => /^(DEVNAME=dm-\d+$|SYNTH_UUID=)/.test(variable))
  );
}
