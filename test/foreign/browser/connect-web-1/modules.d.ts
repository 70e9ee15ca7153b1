// The parts of connect-web 1.x and its generated code that the page uses. The page's import map resolves these names.

declare module "connect-1" {
  import type { JsonObject } from "@bufbuild/protobuf";
  import type { Code, Transport } from "@connectrpc/connect";

  /** A message class of protobuf-es 1.x. */
  export interface MessageType<T> {
    readonly typeName: string;
    fromJson(json: JsonObject): T;
  }
  export interface ServiceType {
    readonly typeName: string;
    readonly methods: Readonly<Record<string, { readonly name: string; readonly I: MessageType<object> }>>;
  }
  export function createClient(
    service: ServiceType,
    transport: Transport,
  ): Readonly<Record<string, (request: object, options: object) => unknown>>;
  export class ConnectError extends Error {
    static from(thrown: unknown): ConnectError;
    readonly code: Code;
    readonly rawMessage: string;
    findDetails<T>(type: MessageType<T>): T[];
  }
}

declare module "connect-web-1" {
  export { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
}

declare module "connect-1-gen/google/rpc/error_details_pb.js" {
  import type { MessageType } from "connect-1";
  export const ErrorInfo: MessageType<{ readonly reason: string }>;
}

declare module "connect-1-gen/operations/v1/operations_connect.js" {
  import type { ServiceType } from "connect-1";
  export const OperationsService: ServiceType;
}

declare module "connect-1-gen/proto/lvmd_connect.js" {
  import type { ServiceType } from "connect-1";
  export const LVService: ServiceType;
  export const VGService: ServiceType;
}

declare module "connect-1-gen/v1alpha/api_connect.js" {
  import type { ServiceType } from "connect-1";
  export const PublicAPI: ServiceType;
}
