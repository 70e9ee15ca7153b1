import type { DescMethod } from "@bufbuild/protobuf";
import type { Call } from "../../call/call.ts";

/** The wire form of a call, selected by the content type of its request. */
export interface WireForm {
  readonly protocol: Extract<Call["protocol"], "connect" | "grpc" | "grpc-web">;
  readonly isBinary: boolean;
  /** Whether messages have envelopes. All do except those of unary Connect. */
  readonly isEnveloped: boolean;
  /** Content type of the answer. */
  readonly contentType: string;
  /** Headers that name the compression of messages, and those that the client accepts. */
  readonly encodingHeader: string;
  readonly acceptHeader: string;
  readonly timeoutHeader: "connect-timeout-ms" | "grpc-timeout";
}

const unaryConnect = {
  protocol: "connect",
  isEnveloped: false,
  encodingHeader: "content-encoding",
  acceptHeader: "accept-encoding",
  timeoutHeader: "connect-timeout-ms",
} as const;

const streamConnect = {
  protocol: "connect",
  isEnveloped: true,
  encodingHeader: "connect-content-encoding",
  acceptHeader: "connect-accept-encoding",
  timeoutHeader: "connect-timeout-ms",
} as const;

const grpc = {
  protocol: "grpc",
  isEnveloped: true,
  encodingHeader: "grpc-encoding",
  acceptHeader: "grpc-accept-encoding",
  timeoutHeader: "grpc-timeout",
} as const;

const grpcWeb = { ...grpc, protocol: "grpc-web" } as const;

const both: readonly [string, WireForm][] = [
  ["application/grpc", { ...grpc, isBinary: true, contentType: "application/grpc+proto" }],
  ["application/grpc+proto", { ...grpc, isBinary: true, contentType: "application/grpc+proto" }],
  ["application/grpc+json", { ...grpc, isBinary: false, contentType: "application/grpc+json" }],
  ["application/grpc-web", { ...grpcWeb, isBinary: true, contentType: "application/grpc-web+proto" }],
  ["application/grpc-web+proto", { ...grpcWeb, isBinary: true, contentType: "application/grpc-web+proto" }],
  ["application/grpc-web+json", { ...grpcWeb, isBinary: false, contentType: "application/grpc-web+json" }],
];

/** Forms of a unary Connect method. Connect's GET names them in a query parameter. */
export const unaryForms = {
  json: { ...unaryConnect, isBinary: false, contentType: "application/json" },
  proto: { ...unaryConnect, isBinary: true, contentType: "application/proto" },
} as const satisfies Record<string, WireForm>;

const ofUnary: ReadonlyMap<string, WireForm> = new Map([
  ...both,
  ["application/json", unaryForms.json],
  ["application/json; charset=utf-8", unaryForms.json],
  ["application/json;charset=utf-8", unaryForms.json],
  ["application/proto", unaryForms.proto],
]);

const ofStreams: ReadonlyMap<string, WireForm> = new Map([
  ...both,
  [
    "application/connect+json",
    { ...streamConnect, isBinary: false, contentType: "application/connect+json" } as WireForm,
  ],
  [
    "application/connect+proto",
    { ...streamConnect, isBinary: true, contentType: "application/connect+proto" } as WireForm,
  ],
]);

/** Returns the form for a content type in its usual spelling; undefined for any other. */
export function wireFormOf(method: DescMethod, contentType: string): WireForm | undefined {
  return (method.methodKind === "unary" ? ofUnary : ofStreams).get(contentType);
}
