import { encodeEnvelope } from "@connectrpc/connect/protocol";
import type { Test } from "tap";
import type { GatewayUnderTest } from "./gateway-under-test.ts";
import { errorFromAnswer } from "./raw-error.ts";
import { type RawAnswer, requestOver } from "./raw-request.ts";
import type { RpcError } from "./rpc-error.ts";

/** Paths of a mutation, a read and a stream to send requests to. */
export const createPath = "/proto.LVService/CreateLV";
export const readPath = "/proto.VGService/GetFreeBytes";
export const watchPath = "/proto.VGService/Watch";

/** A way to put one message into a request. */
export interface Carrier {
  readonly name: string;
  readonly httpVersion: "1.1" | "2";
  readonly type: string;
  /** The header that names the compression of the message. */
  readonly encodingHeader: string;
  readonly isEnveloped: boolean;
}

function carriersOf(format: "json" | "proto"): Carrier[] {
  const grpc = { type: `application/grpc+${format}`, encodingHeader: "grpc-encoding", isEnveloped: true };
  const web = { ...grpc, type: `application/grpc-web+${format}` };
  const connect = { type: `application/${format}`, encodingHeader: "content-encoding", isEnveloped: false };
  return [
    { name: `Connect ${format} over HTTP/1.1`, httpVersion: "1.1", ...connect },
    { name: `Connect ${format} over HTTP/2`, httpVersion: "2", ...connect },
    { name: `gRPC-Web ${format} over HTTP/1.1`, httpVersion: "1.1", ...web },
    { name: `gRPC-Web ${format} over HTTP/2`, httpVersion: "2", ...web },
    { name: `gRPC ${format} over HTTP/2`, httpVersion: "2", ...grpc },
  ];
}

/** Every way to send JSON. */
export const json = carriersOf("json");
/** Every way to send protobuf. */
export const binary = carriersOf("proto");

interface Sent {
  readonly message?: Uint8Array | string;
  readonly path?: string;
  /** The whole body; replaces the one built from `message`. */
  readonly body?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Marks an enveloped message as compressed. */
  readonly compressed?: boolean;
}

/** Sends a message to a method, by default a mutation, and returns the answer. */
export function send(url: string, carrier: Carrier, sent: Sent): Promise<RawAnswer> {
  const message = Buffer.from(sent.message ?? "");
  const enveloped = carrier.isEnveloped ? encodeEnvelope(sent.compressed ? 1 : 0, message) : message;
  return requestOver[carrier.httpVersion](url, {
    path: sent.path ?? createPath,
    headers: { "content-type": carrier.type, ...sent.headers },
    body: sent.body ?? enveloped,
  });
}

/** Sends the same message with each carrier, and compares the error with `expected`. */
export async function refuses(
  t: Test,
  url: string,
  carriers: readonly Carrier[],
  what: string,
  sent: Sent,
  expected: Partial<Omit<RpcError, "message">> & { readonly message?: RegExp },
): Promise<void> {
  for (const carrier of carriers) {
    const error = errorFromAnswer(await send(url, carrier, sent));
    t.match(error, { domain: "hostplane", ...expected }, `${what} by ${carrier.name}`);
  }
}

/** Checks that a client's mistake is not logged as a fault of the gateway, and that the next call works. */
export async function assertUnharmed(t: Test, { url, log }: GatewayUnderTest): Promise<void> {
  for (const carrier of [...json, ...binary]) {
    const message = carrier.type.endsWith("json") ? "{}" : "";
    const answer = await send(url, carrier, { path: readPath, message });
    t.equal(errorFromAnswer(answer), undefined, `the next call works over ${carrier.name}`);
  }
  t.same(
    log.filter(({ level, code }) => Number(level) >= 40 || code === "INTERNAL"),
    [],
    "nothing is logged as a fault",
  );
}

/** The error of a request that cannot be decoded. */
export const malformed = { code: "INVALID_ARGUMENT", reason: "MALFORMED_REQUEST" };
