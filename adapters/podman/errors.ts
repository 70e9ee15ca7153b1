import type { Reason } from "../host/define-reasons.ts";
import { InfraError } from "../host/infra-error.ts";
import { hostReasons } from "../host/reasons.ts";
import { podmanReasons } from "./reasons.ts";

/** An error of undici or of the socket. */
interface SystemError {
  readonly code?: unknown;
}

/** A reply that is a refusal. */
export interface Refusal {
  readonly status: number;
  /** The whole error, and the innermost one, e.g. `no such pod`. */
  readonly message: string;
  readonly cause: string;
}

/** Converts the error of a failed call: the socket is missing, not accessible, or unresponsive. @throws nothing */
export function errorFromCall(error: unknown, socketPath: string): InfraError {
  if (error instanceof InfraError) {
    return error;
  }
  const code = (error as SystemError | undefined)?.code;
  if (code === "EACCES" || code === "EPERM") {
    return new InfraError(
      podmanReasons.PODMAN_DENIED,
      `The gateway may not open Podman's socket ${socketPath}`,
      {
        cause: error,
      },
    );
  }
  const words = typeof code === "string" ? (wordsOfCode[code] ?? code) : "the connection was lost";
  return new InfraError(
    podmanReasons.PODMAN_UNAVAILABLE,
    `Podman at ${socketPath} cannot be reached: ${words}`,
    {
      cause: error,
    },
  );
}

const wordsOfCode: Readonly<Record<string, string>> = {
  ENOENT: "the socket does not exist",
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was lost",
  EPIPE: "the connection was lost",
  UND_ERR_SOCKET: "the connection was lost",
  UND_ERR_CONNECT_TIMEOUT: "no answer in time",
  UND_ERR_HEADERS_TIMEOUT: "no answer in time",
  UND_ERR_BODY_TIMEOUT: "no answer in time",
};

// The innermost error decides, since the status is ambiguous: Podman 4.3.1 returns 500 `container state improper` when
// asked to remove a running pod, and 500 `this container is not logging output` where there are no logs.
const reasonOfCause: readonly (readonly [RegExp, Reason])[] = [
  [/no such pod/, podmanReasons.POD_NOT_FOUND],
  [/no such container|no container with (name|ID)/, podmanReasons.CONTAINER_NOT_FOUND],
  [/image not known|no such image/, podmanReasons.IMAGE_NOT_FOUND],
  [/image is in use/, podmanReasons.IMAGE_IN_USE],
  [/not logging output/, podmanReasons.LOGS_UNAVAILABLE],
  [/container state improper|no running containers|depend(s|ent) on|has dependent/, podmanReasons.POD_STATE],
  [/invalid signal/, hostReasons.INVALID_FIELD],
];

/** Converts a refusal to the error that the caller gets. */
export function errorFromRefusal({ status, message, cause }: Refusal): InfraError {
  const known = reasonOfCause.find(([pattern]) => pattern.test(cause) || pattern.test(message));
  const words = message.trim() || cause || `status ${status}`;
  return new InfraError(known?.[1] ?? podmanReasons.PODMAN_FAILED, `Podman refused: ${words}`);
}

/** Creates the error for a reply that cannot be parsed. */
export function notUnderstood(what: string, why: string): InfraError {
  return new InfraError(podmanReasons.PODMAN_FAILED, `Podman sent an invalid reply to ${what}: ${why}`);
}
