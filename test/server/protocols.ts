import type { Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";

/** One way to speak to the gateway with a client of the official libraries. */
export interface Protocol {
  readonly name: string;
  readonly httpVersion: "1.1" | "2";
  /** Unary calls that may be made by GET are made so, and no others. */
  readonly isGet?: true;
  createTransport(baseUrl: string): Transport;
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
    createTransport: (baseUrl) => createConnectTransport({ baseUrl, httpVersion, useBinaryFormat }),
  })),
);

const connectGet: Protocol[] = httpVersions.flatMap((httpVersion) =>
  formats.map(({ format, useBinaryFormat }) => ({
    name: `Connect GET ${format} over HTTP/${httpVersion}`,
    httpVersion,
    isGet: true as const,
    createTransport: (baseUrl) =>
      createConnectTransport({ baseUrl, httpVersion, useBinaryFormat, useHttpGet: true }),
  })),
);

const grpcWeb: Protocol[] = httpVersions.flatMap((httpVersion) =>
  formats.map(({ format, useBinaryFormat }) => ({
    name: `gRPC-Web ${format} over HTTP/${httpVersion}`,
    httpVersion,
    createTransport: (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion, useBinaryFormat }),
  })),
);

const grpc: Protocol[] = formats.map(({ format, useBinaryFormat }) => ({
  name: `gRPC ${format} over HTTP/2`,
  httpVersion: "2" as const,
  createTransport: (baseUrl) => createGrpcTransport({ baseUrl, useBinaryFormat }),
}));

/** Every protocol the gateway speaks, over every version of HTTP that can carry it. */
export const protocols: readonly Protocol[] = [...connect, ...connectGet, ...grpcWeb, ...grpc];

/** One of each, binary: enough where the subject is not the encoding. */
export const streamProtocols: readonly Protocol[] = protocols.filter(
  ({ name, isGet }) => isGet === undefined && name.includes("binary"),
);
