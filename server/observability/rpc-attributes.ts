import {
  ATTR_CLIENT_ADDRESS,
  ATTR_NETWORK_PROTOCOL_VERSION,
  ATTR_RPC_METHOD,
  ATTR_RPC_STATUS_CODE,
  ATTR_RPC_SYSTEM_NAME,
  RPC_SYSTEM_NAME_VALUE_GRPC,
} from "@opentelemetry/semantic-conventions";
import type { ErrorCode } from "../../adapters/host/define-reasons.ts";
import type { InfraError } from "../../adapters/host/infra-error.ts";
import type { Call } from "../rpc/call/call.ts";
import { methodPathOf } from "../rpc/call/method-rule.ts";

/** OpenTelemetry has no names for REST and server-sent events; its conventions allow custom ones. */
const systemNames: Readonly<Record<Call["protocol"], string>> = {
  connect: "connectrpc",
  grpc: RPC_SYSTEM_NAME_VALUE_GRPC,
  "grpc-web": RPC_SYSTEM_NAME_VALUE_GRPC,
  rest: "rest",
  sse: "sse",
};

/**
 * Returns the attributes of a call's span at its start, under the names of OpenTelemetry's conventions
 * (https://opentelemetry.io/docs/specs/semconv/rpc/rpc-spans/). They contain nothing of the request's headers and message.
 */
export function rpcBeginAttributes(call: Call): Record<string, string> {
  return {
    [ATTR_RPC_SYSTEM_NAME]: systemNames[call.protocol],
    [ATTR_RPC_METHOD]: methodPathOf(call.method),
    "rpc.service": call.method.parent.typeName,
    [ATTR_CLIENT_ADDRESS]: call.peer.address,
    [ATTR_NETWORK_PROTOCOL_VERSION]: call.peer.httpVersion,
    "hostplane.protocol": call.protocol,
    "hostplane.listener": call.peer.listener,
    "hostplane.request_id": call.requestId,
  };
}

/**
 * Returns the attributes at the end of a call: its code, and the reason of an error, but not its message, which may quote the
 * request.
 */
export function rpcEndAttributes(call: Call, error: InfraError | undefined): Record<string, string> {
  const resource = call.resource();
  return {
    [ATTR_RPC_STATUS_CODE]: error?.code ?? "OK",
    "hostplane.actor": call.caller.actor,
    ...(error === undefined ? {} : { "hostplane.reason": error.reason }),
    ...(resource === undefined ? {} : { "hostplane.resource": resource }),
  };
}

/** Codes that the conventions count as server errors; all others are the caller's. */
const serverErrors: ReadonlySet<ErrorCode> = new Set([
  "DEADLINE_EXCEEDED",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
]);

/** Returns the `error.type` of a call's span; undefined unless the server is at fault. */
export function rpcErrorType(error: InfraError | undefined): string | undefined {
  return error !== undefined && serverErrors.has(error.code) ? error.code : undefined;
}
