import * as net from "node:net";
import * as tls from "node:tls";
import {
  createFrameReader,
  encodeFrame,
  encodeHeaders,
  encodePreface,
  type Frame,
  frameFlag,
  frameType,
} from "./http2-frames.ts";

/** A Watch stream of a connection. */
export interface WatchStream {
  /** Free space in the last message, in GiB. */
  freeGib: number;
  messages: number;
}

export interface WatchConnectionOptions {
  readonly port: number;
  /** Loopback address that it connects from. */
  readonly localAddress: string;
  readonly token: string;
  readonly streamCount: number;
  /** Called with the stream for each message. */
  readonly onMessage: (stream: WatchStream) => void;
  /** Called when a stream or the connection ends after it was opened. */
  readonly onBroken: (error: Error) => void;
}

const envelopeBytes = 5;

/**
 * Opens an HTTP/2 connection with TLS, and its Connect streams of proto.VGService/Watch, as a dashboard does. Frames are parsed
 * here, because with node:http2 a client's stream would need more CPU time per message than the gateway. Resolves when each
 * stream has its first message.
 * @throws Error when it ends before that
 */
export async function openWatchConnection(options: WatchConnectionOptions): Promise<tls.TLSSocket> {
  const { port, localAddress, token, streamCount, onMessage, onBroken } = options;
  const tcpSocket = net.connect({ port, host: "127.0.0.1", localAddress });
  tcpSocket.setNoDelay();
  const socket = tls.connect({ socket: tcpSocket, ALPNProtocols: ["h2"], rejectUnauthorized: false });
  const opened = Promise.withResolvers<void>();
  let isOpen = false;
  const fail = (error: Error) => {
    opened.reject(error);
    if (isOpen) {
      onBroken(error);
    }
  };
  tcpSocket.on("error", fail);
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("a connection was closed")));
  const streams = new Map<number, WatchStream & { rest: Buffer }>();
  for (let index = 0; index < streamCount; index += 1) {
    streams.set(2 * index + 1, { freeGib: 0, messages: 0, rest: Buffer.alloc(0) });
  }
  let silentStreams = streamCount;

  function takeData({ streamId, payload, flags }: Frame): void {
    const stream = streams.get(streamId);
    if (stream === undefined || (flags & frameFlag.endStream) !== 0) {
      fail(new Error(`stream ${streamId} has ended`));
      return;
    }
    let bytes = stream.rest.length === 0 ? payload : Buffer.concat([stream.rest, payload]);
    while (bytes.length >= envelopeBytes) {
      const end = envelopeBytes + bytes.readUInt32BE(1);
      if (bytes.length < end) {
        break;
      }
      if (bytes[0] !== 0) {
        fail(new Error(`a stream ended with ${bytes.toString("utf8", envelopeBytes, end)}`));
        return;
      }
      stream.freeGib = freeBytesOf(bytes.subarray(envelopeBytes, end)) / 2 ** 30;
      stream.messages += 1;
      silentStreams -= stream.messages === 1 ? 1 : 0;
      onMessage(stream);
      bytes = bytes.subarray(end);
    }
    // A copy, which does not keep the whole chunk in memory.
    stream.rest = Buffer.from(bytes);
    if (silentStreams === 0) {
      opened.resolve();
    }
  }

  const readFrames = createFrameReader((frame) => {
    const { type, flags, payload, streamId } = frame;
    if (type === frameType.data) {
      takeData(frame);
    } else if (type === frameType.ping && (flags & frameFlag.ack) === 0) {
      socket.write(encodeFrame(frameType.ping, frameFlag.ack, 0, payload));
    } else if (type === frameType.settings && (flags & frameFlag.ack) === 0) {
      socket.write(encodeFrame(frameType.settings, frameFlag.ack, 0, Buffer.alloc(0)));
    } else if (type === frameType.reset || type === frameType.goAway) {
      fail(new Error(`frame ${type} of stream ${streamId}: ${payload.toString("hex")}`));
    }
  });
  socket.on("data", readFrames);
  socket.once("secureConnect", () => {
    const requests = [...streams.keys()].map((id) => requestOf(id, token));
    socket.write(Buffer.concat([encodePreface(), ...requests]));
  });
  await opened.promise;
  isOpen = true;
  return socket;
}

function requestOf(streamId: number, token: string): Buffer {
  const headers = {
    ":method": "POST",
    ":scheme": "https",
    ":path": "/proto.VGService/Watch",
    ":authority": "localhost",
    "content-type": "application/connect+proto",
    "connect-protocol-version": "1",
    authorization: `Bearer ${token}`,
  };
  return Buffer.concat([
    encodeFrame(frameType.headers, frameFlag.endHeaders, streamId, encodeHeaders(headers, streamId === 1)),
    encodeFrame(frameType.data, frameFlag.endStream, streamId, Buffer.alloc(envelopeBytes)),
  ]);
}

/** Field 1 of proto.WatchResponse, a varint, which comes first; 0 is left out. */
function freeBytesOf(message: Buffer): number {
  if (message[0] !== 1 << 3) {
    return 0;
  }
  let value = 0;
  for (let at = 1; at < message.length; at += 1) {
    const byte = message[at] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * (at - 1));
    if (byte < 0x80) {
      break;
    }
  }
  return value;
}
