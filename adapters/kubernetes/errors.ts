import { InfraError } from "../host/infra-error.ts";

export interface Failure {
  /** `refused`: this alone is denied or not there. `away`: of the whole cluster, or of the moment. */
  readonly kind: "refused" | "away";
  readonly statusCode: number | undefined;
  readonly error: InfraError;
}

/** What was asked, for people. */
export interface Asked {
  readonly verb: "list" | "watch" | "get";
  /** As `deployments.apps in rook-ceph`. */
  readonly what: string;
  /** As ClusterAccess describes itself. */
  readonly access: string;
}

/** The cluster answers, but with something else than it was asked for. */
export function replyNotUnderstood(
  { verb, what }: Pick<Asked, "verb" | "what">,
  cause?: unknown,
): InfraError {
  const message = `What Kubernetes answered to ${verb} ${what} is not understood`;
  return new InfraError("KUBERNETES_UNAVAILABLE", message, { cause });
}

// Codes of Node's TLS, of which these are the common ones.
const certificateCode = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ALTNAME/;

/**
 * What is wrong when a request fails, by its status (`statusCode`), or by the codes that Node gives connections. What the
 * error says in words is its `cause`, for the log.
 */
export function failureFrom(error: unknown, { verb, what, access }: Asked): Failure {
  if (error instanceof InfraError) {
    return { kind: "away", statusCode: undefined, error };
  }
  const statusCode = statusCodeOf(error);
  const facts = { cause: error };
  const denied = (message: string) => new InfraError("KUBERNETES_DENIED", message, facts);
  const unavailable = (message: string) => new InfraError("KUBERNETES_UNAVAILABLE", message, facts);
  if (statusCode === 403) {
    return { kind: "refused", statusCode, error: denied(`The account may not ${verb} ${what}`) };
  }
  if (statusCode === 404) {
    return { kind: "refused", statusCode, error: unavailable(`The cluster has no ${what}`) };
  }
  if (statusCode === 401) {
    return { kind: "away", statusCode, error: denied(`Kubernetes does not let the gateway in: ${access}`) };
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
  const isTold = error instanceof Error && "statusCode" in error;
  return isTold && typeof error.statusCode === "number" ? error.statusCode : undefined;
}

// As Node, its TLS and undici write codes. Whatever else an error says may hold what no client is to read.
const knownCode = /^[A-Z][A-Z0-9_]{2,63}$/;

/** The code that is nearest to the root of the matter; undefined where there is none. */
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
