import { closeSync } from "node:fs";
import { createRequire } from "node:module";

// From <sys/socket.h>: the same numbers on every glibc and musl platform except MIPS.
const unixFamily = 1;
const datagramSocket = 2;
const closeOnExec = 0o2000000;
const noSignal = 0x4000;
/** Size of `sun_path` in <sys/un.h>. */
const maxPathBytes = 108;

/**
 * Sends a message to a unix datagram socket, as sd_notify(3) does. Node has no such sockets, and `systemd-notify` would be another
 * process, whose messages systemd accepts only with a wider NotifyAccess=.
 * @param address path of the socket, or `@name` for one in Linux' abstract namespace
 * @throws Error if koffi has no binary for this platform, or the socket does not accept the message
 */
export function sendToNotifySocket(address: string, message: string): void {
  const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
  const library = koffi.load(null);
  const socket = library.func("int socket(int family, int type, int protocol)");
  const send = library.func(
    "int64_t sendto(int fd, void *data, size_t length, int flags, void *address, uint32_t addressLength)",
  );
  const target = socketAddress(address);
  const fd: number = socket(unixFamily, datagramSocket | closeOnExec, 0);
  if (fd < 0) {
    throw new Error(`socket: errno ${koffi.errno()}`);
  }
  try {
    const data = Buffer.from(message);
    if (Number(send(fd, data, data.length, noSignal, target, target.length)) !== data.length) {
      throw new Error(`sendto ${address}: errno ${koffi.errno()}`);
    }
  } finally {
    closeSync(fd);
  }
}

/** Returns a struct sockaddr_un in the machine's byte order. */
function socketAddress(address: string): Buffer {
  // An abstract name begins with NUL and has no end mark; a path ends with NUL.
  const path = Buffer.from(address.startsWith("@") ? `\0${address.slice(1)}` : `${address}\0`);
  if (path.length > maxPathBytes) {
    throw new Error(`${address} is longer than a socket's path may be`);
  }
  const family = Buffer.alloc(2);
  new Uint16Array(family.buffer, family.byteOffset, 1)[0] = unixFamily;
  return Buffer.concat([family, path]);
}
