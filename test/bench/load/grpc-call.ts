import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";

/**
 * Makes a unary gRPC call with a minimal client, because the client shares the machine with the gateway.
 * @param path e.g. `/stats.StatsService/GetClusterStats`
 * @param message the encoded request; empty by default
 * @param token of the caller; none for a listener without logins
 * @returns the size of the response in bytes
 */
export async function callGrpc(
  connection: ClientHttp2Session,
  path: string,
  message: Uint8Array = new Uint8Array(),
  token?: string,
): Promise<number> {
  const stream = connection.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc+proto",
    te: "trailers",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  });
  let status: unknown;
  let size = 0;
  stream.once("response", (headers) => {
    status = headers["grpc-status"];
  });
  stream.once("trailers", (trailers) => {
    status = trailers["grpc-status"];
  });
  stream.on("data", (chunk: Buffer) => {
    size += chunk.length;
  });
  stream.end(grpcFrame(message));
  await once(stream, "close");
  if (status !== "0") {
    throw new Error(`the call ended with ${status}`);
  }
  return size;
}

/** Encodes a message as a gRPC frame. */
export function grpcFrame(message: Uint8Array): Uint8Array {
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  return frame;
}
