import { InfraError } from "../host/infra-error.ts";
import { kubernetesReasons } from "./reasons.ts";

export interface Failure {
  /**
   * `refused`: only this request is denied or its object does not exist. `away`: affects the whole cluster, or is
   * temporary.
   */
  readonly kind: "refused" | "away";
  readonly statusCode: number | undefined;
  readonly error: InfraError;
}

/** The request, for messages. */
export interface RequestDescription {
  readonly verb: "list" | "watch" | "get";
  /** E.g. `deployments.apps in rook-ceph`. */
  readonly what: string;
  /** Description from ClusterAccess. */
  readonly access: string;
}

/** Creates the error for a reply that is not what was requested. */
export function replyNotUnderstood(
  { verb, what }: Pick<RequestDescription, "verb" | "what">,
  cause?: unknown,
): InfraError {
  const message = `Kubernetes sent an invalid reply to ${verb} ${what}`;
  return new InfraError(kubernetesReasons.KUBERNETES_UNAVAILABLE, message, { cause });
}

// Common error codes of Node's TLS.
const certificateCode = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ALTNAME/;

/**
 * Classifies a failed request by its status (`statusCode`) or by Node's code for connection errors. The error's message
 * is only kept as the `cause`, for the log.
 */
export function failureFrom(error: unknown, { verb, what, access }: RequestDescription): Failure {
  if (error instanceof InfraError) {
    return { kind: "away", statusCode: undefined, error };
  }
  const statusCode = statusCodeOf(error);
  const facts = { cause: error };
  const denied = (message: string) => new InfraError(kubernetesReasons.KUBERNETES_DENIED, message, facts);
  const unavailable = (message: string) =>
    new InfraError(kubernetesReasons.KUBERNETES_UNAVAILABLE, message, facts);
  if (statusCode === 403) {
    return { kind: "refused", statusCode, error: denied(`The account may not ${verb} ${what}`) };
  }
  if (statusCode === 404) {
    return { kind: "refused", statusCode, error: unavailable(`The cluster has no ${what}`) };
  }
  if (statusCode === 401) {
    return { kind: "away", statusCode, error: denied(`Kubernetes denies the gateway access: ${access}`) };
  }
  if (statusCode !== undefined) {
    const message = `Kubernetes answered ${statusCode} to ${verb} ${what}`;
    return { kind: "away", statusCode, error: unavailable(message) };
  }
  if (error instanceof SyntaxError) {
    return { kind: "away", statusCode, error: replyNotUnderstood({ verb, what }, error) };
  }
  const code = codeOf(error);
  if (code !== undefined && certificateCode.test(code)) {
    const message = `The certificate of Kubernetes is not trusted (${code}): ${access}`;
    return { kind: "away", statusCode, error: denied(message) };
  }
  const why = isTimeout(error) ? "it does not answer in time" : (code ?? "the request failed");
  return { kind: "away", statusCode, error: unavailable(`Kubernetes cannot be reached (${why}): ${access}`) };
}

function statusCodeOf(error: unknown): number | undefined {
  const hasStatus = error instanceof Error && "statusCode" in error;
  return hasStatus && typeof error.statusCode === "number" ? error.statusCode : undefined;
}

// The form of codes of Node, its TLS and undici. Other parts of an error may contain data that clients must not see.
const knownCode = /^[A-Z][A-Z0-9_]{2,63}$/;

/** Returns the innermost code; undefined if there is none. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) {
    return undefined;
  }
  const isCoded = "code" in error && typeof error.code === "string" && knownCode.test(error.code);
  return codeOf(error.cause) ?? (isCoded ? String(error.code) : undefined);
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === "TimeoutError" || isTimeout(error.cause));
}
