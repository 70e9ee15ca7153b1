import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { rewriteHeaderFrames } from "./header-frames.ts";
import { rewriteAuthority } from "./hpack-authority.ts";
import { createFrameSplitter } from "./http2-frames.ts";

/**
 * A connection for `http2Server.emit("connection", …)` on which a client may name a file path as its
 * `:authority`, as grpc-go 1.32 does when it dials a unix socket by its path (newer versions percent-encode
 * it). Node's HTTP/2 library resets every such request with PROTOCOL_ERROR before any JavaScript runs, and has
 * no option against it; here the offending bytes become `-` on the way in. Everything else passes unchanged,
 * the server's side always.
 *
 * The socket must stand before the client's first byte (the connection preface) and belongs to the result from
 * now on: end, error, destroy and backpressure go through in both directions. A socket made with
 * `allowHalfOpen` keeps its half-closed state.
 */
export function createAuthorityRewriter(socket: Socket): Duplex {
  const splitter = createFrameSplitter({
    other: pass,
    headerFrames: (frames) => pass(rewriteHeaderFrames(frames, rewriteAuthority)),
  });

  const duplex = new Duplex({
    read() {
      socket.resume();
    },
    // A write that fails is not reported: "close" follows. So it is on a socket that Node's HTTP/2 library owns,
    // where a client that goes away while it is answered is no error of the session.
    write(chunk, _encoding, done) {
      socket.write(chunk, () => done());
    },
    writev(chunks, done) {
      socket.cork();
      const last = chunks.length - 1;
      chunks.forEach(({ chunk }, index) => {
        socket.write(chunk, index === last ? () => done() : undefined);
      });
      socket.uncork();
    },
    final(done) {
      socket.end(() => done());
    },
    destroy(error, done) {
      // The error was the duplex's; on the socket, which nobody else listens to, it would be a second report.
      socket.destroy();
      done(error);
    },
  });

  function pass(bytes: Buffer): void {
    if (!duplex.push(bytes)) {
      socket.pause();
    }
  }

  socket.on("data", (chunk: Buffer) => splitter.push(chunk));
  socket.on("end", () => {
    splitter.end();
    duplex.push(null);
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    duplex.destroy(error.syscall === "write" ? undefined : error);
  });
  socket.on("close", () => {
    // What the client sent before it closed is still to be read.
    if (socket.readableEnded && !duplex.readableEnded) {
      duplex.once("end", () => duplex.destroy());
    } else {
      duplex.destroy();
    }
  });
  return duplex;
}
