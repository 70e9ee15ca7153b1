import type { Code, ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, codeToString } from "@connectrpc/connect/protocol-connect";
import type { DeclaredReason, Reason } from "../../../adapters/host/define-reasons.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { connectErrorFromInfraError } from "../errors/connect-error.ts";
import { httpStatusOf } from "../protocols/rest/error.ts";
import type { CommentOf } from "./contract-comments.ts";
import type { DocumentedMethod } from "./documented-method.ts";

/** The reasons of a gateway's errors, and which calls can have them. */
export interface DocumentedReasons {
  /** Every reason of the gateway, in the order of the table. */
  readonly all: readonly DeclaredReason[];
  /** Those that any call can have. */
  readonly ofEveryCall: readonly Reason[];
  /** Returns those that follow from the method's rule, domain and subject. */
  ofMethod(documented: DocumentedMethod): readonly Reason[];
}

/** How clients see errors with one reason. */
export interface ErrorRow {
  readonly reason: string;
  readonly code: DeclaredReason["code"];
  /** gRPC's number of the code. */
  readonly codeNumber: Code;
  /** The code as Connect writes it, e.g. `not_found`. */
  readonly connectCode: string;
  readonly connectStatus: number;
  readonly restStatus: number;
  readonly retryable: boolean;
  readonly meaning: string;
}

/** The errors of a documented contract. All lists have the order of the table. */
export interface ErrorTable {
  readonly rows: readonly ErrorRow[];
  /** The errors that every call can return. */
  readonly ofEveryCall: readonly ErrorRow[];
  /** Returns the other errors of the method, including those whose reasons its comments name. */
  ownOf(documented: DocumentedMethod): readonly ErrorRow[];
}

/** @param commentOf returns the comments of the contract: a reason in the comments of a method is one of its errors */
export function createErrorTable(reasons: DocumentedReasons, commentOf: CommentOf): ErrorTable {
  const rows = reasons.all.map(rowOf);
  const everyCall = idsOf(reasons.ofEveryCall);
  return {
    rows,
    ofEveryCall: rows.filter(({ reason }) => everyCall.has(reason)),
    ownOf(documented) {
      const own = idsOf(reasons.ofMethod(documented));
      const named = wordsInCapitals(commentsOf(documented, commentOf));
      return rows.filter(({ reason }) => (own.has(reason) || named.has(reason)) && !everyCall.has(reason));
    },
  };
}

function rowOf({ id, code, retryable, meaning }: DeclaredReason): ErrorRow {
  const wire: ConnectError = connectErrorFromInfraError(new InfraError({ id, code, retryable }, ""));
  return {
    reason: id,
    code,
    codeNumber: wire.code,
    connectCode: codeToString(wire.code),
    connectStatus: codeToHttpStatus(wire.code),
    restStatus: httpStatusOf(wire),
    retryable,
    meaning,
  };
}

function idsOf(reasons: readonly Reason[]): ReadonlySet<string> {
  return new Set(reasons.map(({ id }) => id));
}

/** Returns the words of a text that may be reasons. */
function wordsInCapitals(text: string): ReadonlySet<string> {
  return new Set(text.match(/\b[A-Z][A-Z_]+\b/g));
}

function commentsOf({ method }: DocumentedMethod, commentOf: CommentOf): string {
  const messages = [method.input, method.output];
  const ofMessages = messages.flatMap((message) => [commentOf(message), ...message.fields.map(commentOf)]);
  return [commentOf(method), ...ofMessages].join("\n");
}
