import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Test } from "tap";

/** Counters of what has passed through the relay. */
export interface FrameCounts {
  clientBytes: number;
  /** PING frames that are not acknowledgements. */
  clientPings: number;
  /** GOAWAY frames with an error, sent by the gateway because of a protocol error of the client. */
  serverFaults: number;
}

const clientPrefaceBytes = 24;
const frameHeaderBytes = 9;
const frameType = { ping: 6, goAway: 7 } as const;
const acknowledged = 1;

/**
 * Starts a TCP relay in front of a gateway that counts HTTP/2 frames (RFC 9113, 4.1), so that a test knows what a client really
 * sent.
 */
export async function startFrameCounter(
  t: Test,
  gatewayUrl: string,
): Promise<{ readonly address: string; readonly counts: FrameCounts }> {
  const { hostname, port } = new URL(gatewayUrl);
  const counts: FrameCounts = { clientBytes: 0, clientPings: 0, serverFaults: 0 };
  const sockets = new Set<Socket>();
  const relay = createServer((client) => {
    const gateway = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, gateway],
      [gateway, client],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.pipe(to);
    }
    client.on("data", (chunk: Buffer) => {
      counts.clientBytes += chunk.byteLength;
    });
    readFrames(client, clientPrefaceBytes, (type, flags) => {
      if (type === frameType.ping && (flags & acknowledged) === 0) {
        counts.clientPings += 1;
      }
    });
    readFrames(gateway, 0, (type, _flags, payload) => {
      if (type === frameType.goAway && payload.readUInt32BE(4) !== 0) {
        counts.serverFaults += 1;
      }
    });
  });
  t.teardown(() => {
    for (const socket of sockets) {
      socket.destroy();
    }
    relay.close();
  });
  await once(relay.listen(0, "127.0.0.1"), "listening");
  return { address: `127.0.0.1:${(relay.address() as AddressInfo).port}`, counts };
}

function readFrames(
  socket: Socket,
  prefaceBytes: number,
  onFrame: (type: number, flags: number, payload: Buffer) => void,
): void {
  let kept = Buffer.alloc(0);
  let toSkip = prefaceBytes;
  socket.on("data", (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk]);
    while (kept.byteLength >= toSkip + frameHeaderBytes) {
      const start = toSkip + frameHeaderBytes;
      const end = start + kept.readUIntBE(toSkip, 3);
      if (kept.byteLength < end) {
        return;
      }
      onFrame(kept.readUInt8(toSkip + 3), kept.readUInt8(toSkip + 4), kept.subarray(start, end));
      kept = kept.subarray(end);
      toSkip = 0;
    }
  });
}
