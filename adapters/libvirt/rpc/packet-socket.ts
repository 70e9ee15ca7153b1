import { once } from "node:events";
import { connect } from "node:net";
import { InfraError } from "../../host/infra-error.ts";
import { hostReasons } from "../../host/reasons.ts";
import { errorFromSignal } from "./give-up.ts";
import { createKeepAlive } from "./keep-alive.ts";
import { createPacketDecoder, encodeHeader, type Packet, type PacketHeader } from "./packet.ts";
import { keepAliveProgram } from "./procedure.ts";
import { libvirtRpcReasons } from "./reasons.ts";

export interface PacketSocketOptions {
  readonly socketPath: string;
  readonly keepAliveMs: number;
  readonly maxMessageBytes: number;
  /** Called for each packet except keepalives. If it throws, the connection ends. */
  readonly onPacket: (packet: Packet) => void;
  /** Called once when the connection has ended, whichever side ended it. */
  readonly onEnd: (why: InfraError) => void;
}

export interface PacketSocket {
  /** Sends without waiting. Returns false if the other side is slow; then wait for `drained`. */
  send(header: PacketHeader, payload: Uint8Array): boolean;
  /** Resolves when the socket's buffer has drained. Never resolves once the connection has ended. */
  drained(): Promise<void>;
  /** Stops reading, so that the other side has to wait. */
  pause(): void;
  resume(): void;
  end(why: InfraError): void;
}

const empty = new Uint8Array();

/**
 * Connects to a unix socket on which packets are exchanged.
 * @throws InfraError LIBVIRT_UNAVAILABLE if there is no listener, LIBVIRT_DENIED if access to the socket is denied, and
 * the signal's
 */
export async function openPacketSocket(
  options: PacketSocketOptions,
  signal?: AbortSignal,
): Promise<PacketSocket> {
  const { socketPath, keepAliveMs, maxMessageBytes, onPacket, onEnd } = options;
  const socket = connect({ path: socketPath });
  try {
    await once(socket, "connect", signal === undefined ? {} : { signal });
  } catch (error) {
    socket.destroy();
    throw signal?.aborted ? errorFromSignal(signal) : errorFromConnect(socketPath, error);
  }

  const decoder = createPacketDecoder(maxMessageBytes);
  const keepAlive = createKeepAlive({
    intervalMs: keepAliveMs,
    send: (header) => send(header, empty),
    onSilent: () => end(lost("no reply to keepalives")),
  });
  let isOver = false;

  function lost(why: string): InfraError {
    return new InfraError(
      libvirtRpcReasons.LIBVIRT_UNAVAILABLE,
      `lost the connection to libvirt at ${socketPath}: ${why}`,
    );
  }

  function send(header: PacketHeader, payload: Uint8Array): boolean {
    if (isOver) {
      return true;
    }
    socket.cork();
    socket.write(encodeHeader(header, payload.length));
    const keepsUp = socket.write(payload);
    socket.uncork();
    return keepsUp;
  }

  function end(why: InfraError): void {
    if (!isOver) {
      isOver = true;
      keepAlive.stop();
      socket.destroy();
      onEnd(why);
    }
  }

  function receive(chunk: Buffer): void {
    keepAlive.noteReceived();
    try {
      for (const packet of decoder.push(chunk)) {
        if (packet.program === keepAliveProgram.number) {
          keepAlive.receive(packet);
        } else if (!isOver) {
          onPacket(packet);
        }
      }
    } catch (error) {
      end(
        error instanceof InfraError
          ? error
          : new InfraError(hostReasons.INTERNAL, String(error), { cause: error }),
      );
    }
  }

  socket.on("data", receive);
  socket.on("error", (error) => end(lost(error.message)));
  socket.on("close", () => end(lost("it was closed")));
  return {
    send,
    async drained() {
      if (socket.writableNeedDrain) {
        await new Promise((resolve) => socket.once("drain", resolve));
      }
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end,
  };
}

function errorFromConnect(socketPath: string, error: unknown): InfraError {
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  if (code === "EACCES" || code === "EPERM") {
    const advice = "run the gateway as a user that may open it, e.g. in the group libvirt";
    return new InfraError(
      libvirtRpcReasons.LIBVIRT_DENIED,
      `may not open ${socketPath} (${code}): ${advice}`,
    );
  }
  const advice = code === "ENOENT" || code === "ECONNREFUSED" ? "; check that libvirtd is running" : "";
  return new InfraError(
    libvirtRpcReasons.LIBVIRT_UNAVAILABLE,
    `cannot connect to libvirt at ${socketPath} (${code})${advice}`,
    {
      cause: error,
    },
  );
}
