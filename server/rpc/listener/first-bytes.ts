import type { Socket } from "node:net";

/** Enough to tell HTTP/2's preface (`PRI * HTTP/2.0`, RFC 9113 section 3.4) from any HTTP/1.1 method. */
const preface = Buffer.from("PRI");

/**
 * Reads the first bytes of a cleartext connection and says what it speaks; the bytes are put back, so that
 * the server which gets the socket next sees all of them. A socket that sends fewer than three bytes within
 * `timeoutMs` is destroyed, and so is one that errors or closes before.
 *
 * The bytes are kept aside until there are three: put back one at a time they would be announced again at
 * once, and a client that sends a single `P` would keep the event loop busy for ever.
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

/** An error of a socket that has said nothing yet concerns nobody; `close` follows it. */
function ignore(): void {}
