import { InfraError } from "../host/infra-error.ts";
import { quotedLine } from "../host/quoted-line.ts";
import { workloadReasons } from "./reasons.ts";

/** The request and the server, for messages. */
export interface RequestDescription {
  /** E.g. `cordon node1`. */
  readonly what: string;
  /** E.g. `Kubernetes at 10.20.0.9:6443`. */
  readonly who: string;
  /** The reply is not quoted, since it may contain what was sent. */
  readonly isSecret?: boolean;
}

/** A reply other than success. */
export interface Refusal {
  readonly status: number;
  /** Its message; empty if there is none. */
  readonly words: string;
  /** Kubernetes' reason, e.g. `AlreadyExists`. */
  readonly reason: string;
  /** Reasons and messages of its details, e.g. `DisruptionBudget`. */
  readonly causes: readonly { readonly reason: string; readonly message: string }[];
}

const busyStatuses: readonly number[] = [408, 429, 502, 503, 504];
// `etcdserver: request timed out` and `rpc error: code = Unavailable desc = …` come with status 500.
const busyWords = /^(etcdserver: (request timed out|no leader|leader changed|unhealthy|too many)|rpc error)/;

/** Makes a server's message safe to show: one line of limited length, without possible keys. */
export function quotedWords(words: string): string {
  return quotedLine(words.replace(/[A-Za-z0-9+/=_-]{64,}/g, "…"));
}

/** Converts a refusal to the error that the caller gets. */
export function errorFromRefusal(
  { status, words }: Refusal,
  { what, who, isSecret }: RequestDescription,
): InfraError {
  const detail = words === "" || isSecret === true ? "" : `: ${quotedWords(words)}`;
  if (status === 401) {
    return new InfraError(
      workloadReasons.WORKLOAD_DENIED,
      `${who} rejects the gateway's certificate${detail}`,
    );
  }
  if (status === 403) {
    return new InfraError(
      workloadReasons.WORKLOAD_DENIED,
      `${who} does not allow the gateway to ${what}${detail}`,
    );
  }
  if (busyStatuses.includes(status) || (status === 500 && busyWords.test(words))) {
    return new InfraError(
      workloadReasons.WORKLOAD_UNAVAILABLE,
      `${who} temporarily cannot ${what} (${status})${detail}`,
    );
  }
  return new InfraError(workloadReasons.WORKLOAD_FAILED, `${who} answered ${status} to ${what}${detail}`);
}

/** Creates the error for a reply that cannot be parsed. */
export function notUnderstood({ what, who }: RequestDescription, why: string): InfraError {
  return new InfraError(workloadReasons.WORKLOAD_FAILED, `${who} sent an invalid reply to ${what}: ${why}`);
}

// TLS alerts with which the server rejects our certificate.
const deniedCode = /^ERR_SSL_.*ALERT_(CERTIFICATE|BAD_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|UNSUPPORTED_CERT)/;
const untrustedCode = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ALTNAME/;

/** Converts the error of a call that got no reply. */
export function errorFromCall(error: unknown, { who }: Pick<RequestDescription, "who">): InfraError {
  if (error instanceof InfraError) {
    return error;
  }
  const { name, code } = namesOf(error);
  if (code !== undefined && deniedCode.test(code)) {
    const message = `${who} rejects the gateway's certificate (${code})`;
    return new InfraError(workloadReasons.WORKLOAD_DENIED, message, { cause: error });
  }
  const why = name === "TimeoutError" ? "no answer in time" : wordsOfCode(code);
  // Its `data` is the received data, which may come from any server.
  const facts = name === "HTTPParserError" ? {} : { cause: error };
  return new InfraError(workloadReasons.WORKLOAD_UNAVAILABLE, `${who} cannot be reached: ${why}`, facts);
}

function namesOf(error: unknown): { readonly name: string | undefined; readonly code: string | undefined } {
  if (!(error instanceof Error)) {
    return { name: undefined, code: undefined };
  }
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  return { name: error.name, code };
}

function wordsOfCode(code: string | undefined): string {
  if (code === undefined) {
    return "the connection was lost";
  }
  return untrustedCode.test(code) ? `its certificate is not trusted (${code})` : (knownCodes[code] ?? code);
}

const knownCodes: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was lost",
  EHOSTUNREACH: "no route to host",
  ENETUNREACH: "no route to host",
  ENOTFOUND: "its host name does not exist",
  EAI_AGAIN: "its host name cannot be resolved",
  EPIPE: "the connection was lost",
  UND_ERR_SOCKET: "the connection was lost",
  UND_ERR_CONNECT_TIMEOUT: "no answer in time",
  UND_ERR_DESTROYED: "the client is closed",
  UND_ERR_CLOSED: "the client is closed",
};
