import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";

/**
 * A unary call by gRPC, with as little of a client as there can be: it shares the machine with the gateway.
 * @param path as `/stats.StatsService/GetClusterStats`
 * @param message the request, encoded; an empty one unless told
 * @param token of the caller; none where a listener asks for no login
 * @returns how many bytes the answer has
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

/** A message as gRPC sends it. */
export function grpcFrame(message: Uint8Array): Uint8Array {
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  return frame;
}
