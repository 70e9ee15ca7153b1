import type { Code, ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, codeToString } from "@connectrpc/connect/protocol-connect";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { type ErrorCode, type ReasonName, reasons } from "../../../adapters/host/reasons.ts";
import { connectErrorFromInfraError } from "../errors/connect-error.ts";
import { httpStatusOf } from "../protocols/rest/error.ts";

/** How clients see errors with one reason. */
export interface ErrorRow {
  readonly reason: ReasonName;
  readonly code: ErrorCode;
  /** gRPC's number of the code. */
  readonly codeNumber: Code;
  /** The code as Connect writes it, e.g. `not_found`. */
  readonly connectCode: string;
  readonly connectStatus: number;
  readonly restStatus: number;
  readonly retryable: boolean;
  readonly meaning: string;
}

/** Every reason of the gateway, in the order of its table. */
export const errorRows: readonly ErrorRow[] = Object.entries(reasons).map(([name, facts]) => {
  const reason = name as ReasonName;
  const wire: ConnectError = connectErrorFromInfraError(new InfraError(reason, ""));
  return {
    ...facts,
    reason,
    codeNumber: wire.code,
    connectCode: codeToString(wire.code),
    connectStatus: codeToHttpStatus(wire.code),
    restStatus: httpStatusOf(wire),
  };
});

/** Returns the reasons named in a text, such as the comment of a method, in the order of the table. */
export function reasonsNamedIn(text: string): readonly ErrorRow[] {
  const words = new Set(text.match(/\b[A-Z][A-Z_]+\b/g));
  return errorRows.filter(({ reason }) => words.has(reason));
}
