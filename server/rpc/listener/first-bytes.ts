import type { Socket } from "node:net";

/** Enough to distinguish HTTP/2's preface (`PRI * HTTP/2.0`, RFC 9113 section 3.4) from any HTTP/1.1 method. */
const preface = Buffer.from("PRI");

/**
 * Detects the protocol of a cleartext connection from its first bytes, and puts them back, so that the server that gets the
 * socket next sees all of them. A socket that sends fewer than three bytes within `timeoutMs` is destroyed, and so is one that
 * fails or closes before.
 *
 * The bytes are kept until there are three. If they were put back one at a time they would be emitted again at once, and a client
 * that sends a single `P` would keep the event loop busy forever.
 */
export function sniffProtocol(
  socket: Socket,
  timeoutMs: number,
  onKnown: (protocol: "http1" | "http2") => void,
): void {
  let seen: Buffer = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  const settle = () => {
    clearTimeout(timer);
    socket.off("data", onData);
    socket.off("close", settle);
    socket.off("end", onEnd);
    socket.off("error", ignore);
  };
  const onEnd = () => socket.destroy();
  const onData = (chunk: Buffer) => {
    seen = seen.byteLength === 0 ? chunk : Buffer.concat([seen, chunk]);
    if (seen.byteLength < preface.byteLength) {
      return;
    }
    settle();
    socket.pause();
    socket.unshift(seen);
    onKnown(seen.subarray(0, preface.byteLength).equals(preface) ? "http2" : "http1");
  };
  socket.on("data", onData);
  socket.on("close", settle);
  socket.on("end", onEnd);
  socket.on("error", ignore);
}

/** Ignores the error of a socket that has sent nothing yet; `close` follows. */
function ignore(): void {}
