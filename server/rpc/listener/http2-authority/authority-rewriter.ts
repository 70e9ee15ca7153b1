import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { rewriteHeaderFrames } from "./header-frames.ts";
import { rewriteAuthority } from "./hpack-authority.ts";
import { createFrameSplitter } from "./http2-frames.ts";

/**
 * Creates a connection for `http2Server.emit("connection", …)` that accepts clients with a file path as `:authority`. grpc-go
 * 1.32 sends one when it dials a unix socket by its path (newer versions percent-encode it). Node's HTTP/2 library resets every
 * such request with PROTOCOL_ERROR before any JavaScript runs, and has no option against that. Here the offending bytes become
 * `-` on the way in. Everything else passes unchanged; the server's side always does.
 *
 * The socket must not have received the client's first byte (the connection preface) yet, and belongs to the result from then on:
 * end, error, destroy and backpressure pass in both directions. A socket created with `allowHalfOpen` keeps its half-closed
 * state.
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
    // A failed write is not reported; "close" follows. Sockets owned by Node's HTTP/2 library behave the same: a client that
    // leaves during an answer is not a session error.
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
      // The duplex reports the error. The socket, which has no other listeners, must not report it again.
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
    // Data that the client sent before closing has not been read yet.
    if (socket.readableEnded && !duplex.readableEnded) {
      duplex.once("end", () => duplex.destroy());
    } else {
      duplex.destroy();
    }
  });
  return duplex;
}
