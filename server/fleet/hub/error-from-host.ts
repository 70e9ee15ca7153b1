import { durationMs } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { type Effect, InfraError } from "../../../adapters/host/infra-error.ts";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../../gen/google/rpc/error_details_pb.ts";
import { errorCodeFrom } from "../../rpc/errors/connect-error.ts";
import { hostUnreachable } from "../host-errors.ts";
import type { HostLink } from "../links/host-link.ts";

/** Longest reason and message of a host, in characters: those of all hosts may be in one answer. */
export const errorTextMax = { reason: 100, message: 4096 } as const;

const effects: readonly string[] = ["none", "possible", "done"] satisfies readonly Effect[];

/**
 * Converts what a call of a host's client has thrown: an error that the host reports with all its details, and anything else to
 * HOST_UNREACHABLE. A message that is too long is cut.
 */
export function errorFromHost(thrown: unknown, link: Pick<HostLink, "host" | "closed">): InfraError {
  if (thrown instanceof InfraError) {
    return thrown;
  }
  const [info] = thrown instanceof ConnectError ? thrown.findDetails(ErrorInfoSchema) : [];
  if (!(thrown instanceof ConnectError) || info === undefined) {
    const words = thrown instanceof Error ? thrown.message : String(thrown);
    return hostUnreachable(
      link.host,
      link.closed.aborted ? "its connection broke" : words.slice(0, errorTextMax.message),
    );
  }
  const { retryable, effect, resource, ...metadata } = info.metadata;
  const reason = {
    id: info.reason.slice(0, errorTextMax.reason),
    code: errorCodeFrom(thrown.code),
    retryable: retryable === "true",
  };
  const [retry] = thrown.findDetails(RetryInfoSchema);
  return new InfraError(reason, thrown.rawMessage.slice(0, errorTextMax.message), {
    metadata,
    violations: thrown
      .findDetails(BadRequestSchema)
      .flatMap(({ fieldViolations }) => fieldViolations)
      .map(({ field, description }) => ({ field, description })),
    ...(effect !== undefined && effects.includes(effect) ? { effect: effect as Effect } : {}),
    ...(resource === undefined ? {} : { resource }),
    ...(retry?.retryDelay === undefined ? {} : { retryAfterMs: durationMs(retry.retryDelay) }),
  });
}
