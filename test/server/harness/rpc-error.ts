import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";

/** An error of the gateway as a client sees it. */
export interface RpcError {
  /** The code by its gRPC name, e.g. `NOT_FOUND`. */
  readonly code: string;
  readonly reason: string | undefined;
  readonly domain: string | undefined;
  /** Names of the invalid fields. */
  readonly fields: readonly string[];
  readonly message: string;
}

/** Reads code and details of a ConnectError that a client threw. */
export function rpcErrorFrom(thrown: unknown): RpcError {
  const error = ConnectError.from(thrown);
  const [info] = error.findDetails(ErrorInfoSchema);
  const violations = error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
  return {
    code: grpcNameOf(error.code),
    reason: info?.reason,
    domain: info?.domain,
    fields: violations.map(({ field }) => field),
    message: error.rawMessage,
  };
}

/** Returns the error that a promise rejects with. It is a failure if the promise resolves. */
export async function rpcErrorOf(call: Promise<unknown>): Promise<RpcError> {
  let answer: unknown;
  try {
    answer = await call;
  } catch (thrown) {
    return rpcErrorFrom(thrown);
  }
  const shown = JSON.stringify(answer, (_key, value) => (typeof value === "bigint" ? `${value}` : value));
  return { code: "OK", reason: undefined, domain: undefined, fields: [], message: `answered ${shown}` };
}

function grpcNameOf(code: Code): string {
  const name = Code[code] ?? String(code);
  return name === "Canceled" ? "CANCELLED" : name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}
