import type { SecureContextOptions } from "node:tls";
import type { Interceptor, Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { createEventStreamTransport } from "./event-stream-transport.ts";

/** One way to call the gateway with a client of the official libraries. */
export interface Protocol {
  readonly name: string;
  readonly httpVersion: "1.1" | "2";
  /** Uses GET for calls that allow it, and makes only those. */
  readonly isGet?: true;
  /** Carries only server streams. */
  readonly isEventStream?: true;
  createTransport(baseUrl: string, client?: Client): Transport;
}

/** What a client sends with every call. */
export interface Client {
  readonly headers?: Readonly<Record<string, string>>;
  readonly tls?: Pick<SecureContextOptions, "ca" | "cert" | "key">;
}

function optionsOf({ headers = {}, tls = {} }: Client) {
  const withHeaders: Interceptor = (next) => (request) => {
    for (const [name, value] of Object.entries(headers)) {
      request.header.set(name, value);
    }
    return next(request);
  };
  return { interceptors: [withHeaders], nodeOptions: tls };
}

const httpVersions = ["1.1", "2"] as const;
const formats = [
  { format: "JSON", useBinaryFormat: false },
  { format: "binary", useBinaryFormat: true },
];

const connect: Protocol[] = httpVersions.flatMap((httpVersion) =>
  formats.map(({ format, useBinaryFormat }) => ({
    name: `Connect ${format} over HTTP/${httpVersion}`,
    httpVersion,
    createTransport: (baseUrl, client = {}) =>
      createConnectTransport({ ...optionsOf(client), baseUrl, httpVersion, useBinaryFormat }),
  })),
);

const connectGet: Protocol[] = httpVersions.flatMap((httpVersion) =>
  formats.map(({ format, useBinaryFormat }) => ({
    name: `Connect GET ${format} over HTTP/${httpVersion}`,
    httpVersion,
    isGet: true as const,
    createTransport: (baseUrl, client = {}) =>
      createConnectTransport({
        ...optionsOf(client),
        baseUrl,
        httpVersion,
        useBinaryFormat,
        useHttpGet: true,
      }),
  })),
);

const grpcWeb: Protocol[] = httpVersions.flatMap((httpVersion) =>
  formats.map(({ format, useBinaryFormat }) => ({
    name: `gRPC-Web ${format} over HTTP/${httpVersion}`,
    httpVersion,
    createTransport: (baseUrl, client = {}) =>
      createGrpcWebTransport({ ...optionsOf(client), baseUrl, httpVersion, useBinaryFormat }),
  })),
);

const grpc: Protocol[] = formats.map(({ format, useBinaryFormat }) => ({
  name: `gRPC ${format} over HTTP/2`,
  httpVersion: "2" as const,
  createTransport: (baseUrl, client = {}) =>
    createGrpcTransport({ ...optionsOf(client), baseUrl, useBinaryFormat }),
}));

/** Every protocol of the gateway, over every HTTP version that can carry it. */
export const protocols: readonly Protocol[] = [...connect, ...connectGet, ...grpcWeb, ...grpc];

/** Each protocol with binary encoding, for tests where the encoding does not matter. */
export const streamProtocols: readonly Protocol[] = protocols.filter(
  ({ name, isGet }) => isGet === undefined && name.includes("binary"),
);

/** Server-sent events over every HTTP version, by POST and by GET. */
export const eventStreamProtocols: readonly Protocol[] = httpVersions.flatMap((httpVersion) =>
  ["POST", "GET"].map((verb) => ({
    name: `server-sent events by ${verb} over HTTP/${httpVersion}`,
    httpVersion,
    isEventStream: true,
    ...(verb === "GET" ? { isGet: true } : {}),
    createTransport: (baseUrl, client = {}) =>
      createEventStreamTransport(baseUrl, httpVersion, verb === "GET", client),
  })),
);
