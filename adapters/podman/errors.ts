import { InfraError } from "../host/infra-error.ts";
import type { ReasonName } from "../host/reasons.ts";

/** Of undici, and of the socket. */
interface SystemError {
  readonly code?: unknown;
}

/** An answer that is a refusal. */
export interface Refusal {
  readonly status: number;
  /** The whole error, and the innermost one, as `no such pod`. */
  readonly message: string;
  readonly cause: string;
}

/** What a failed call is to the reader: the socket is missing, closed to us, or silent. @throws nothing */
export function errorFromCall(error: unknown, socketPath: string): InfraError {
  if (error instanceof InfraError) {
    return error;
  }
  const code = (error as SystemError | undefined)?.code;
  if (code === "EACCES" || code === "EPERM") {
    return new InfraError("PODMAN_DENIED", `The gateway may not open Podman's socket ${socketPath}`, {
      cause: error,
    });
  }
  const words = typeof code === "string" ? (wordsOfCode[code] ?? code) : "the connection was lost";
  return new InfraError("PODMAN_UNAVAILABLE", `Podman at ${socketPath} cannot be reached: ${words}`, {
    cause: error,
  });
}

const wordsOfCode: Readonly<Record<string, string>> = {
  ENOENT: "there is no such socket",
  ECONNREFUSED: "nobody listens",
  ECONNRESET: "the connection was lost",
  EPIPE: "the connection was lost",
  UND_ERR_SOCKET: "the connection was lost",
  UND_ERR_CONNECT_TIMEOUT: "no answer in time",
  UND_ERR_HEADERS_TIMEOUT: "no answer in time",
  UND_ERR_BODY_TIMEOUT: "no answer in time",
};

// The innermost error decides, since the status does not: Podman 4.3.1 answers 500 `container state improper` to the removal of a
// pod that runs, and 500 `this container is not logging output` where there are no logs.
const reasonOfCause: readonly (readonly [RegExp, ReasonName])[] = [
  [/no such pod/, "POD_NOT_FOUND"],
  [/no such container|no container with (name|ID)/, "CONTAINER_NOT_FOUND"],
  [/image not known|no such image/, "IMAGE_NOT_FOUND"],
  [/image is in use/, "IMAGE_IN_USE"],
  [/not logging output/, "LOGS_UNAVAILABLE"],
  [/container state improper|no running containers|depend(s|ent) on|has dependent/, "POD_STATE"],
  [/invalid signal/, "INVALID_FIELD"],
];

/** What a refusal is to the caller. */
export function errorFromRefusal({ status, message, cause }: Refusal): InfraError {
  const known = reasonOfCause.find(([pattern]) => pattern.test(cause) || pattern.test(message));
  const words = message.trim() || cause || `status ${status}`;
  return new InfraError(known?.[1] ?? "PODMAN_FAILED", `Podman refused: ${words}`);
}

/** Podman answered something that is not understood. */
export function notUnderstood(what: string, why: string): InfraError {
  return new InfraError("PODMAN_FAILED", `Podman's answer to ${what} is not understood: ${why}`);
}
